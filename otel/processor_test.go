package otel

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
)

func TestLogs(t *testing.T) {
	next := &recorder{}
	p := started(t, testConfig(idKey), next)
	p.send(t, "a b a c b")
	next.took(t, "a b c")
	p.send(t, "c d a")
	next.took(t, "d")
	before := next.calls
	p.send(t, "a b c d")
	if next.took(t, ""); next.calls != before {
		t.Error("an empty batch was sent")
	}
	check(t, p.ConsumeLogs(t.Context(), plog.NewLogs()))
	if !p.Capabilities().MutatesData {
		t.Error("the processor removes records, and does not say so")
	}
}

// TestPlaces sends records of two resources with two scopes each. What is left must be in its place and order, and what
// is empty must be gone.
func TestPlaces(t *testing.T) {
	sink := &consumertest.LogsSink{}
	p := started(t, testConfig(`resource.attributes["host"]`, idKey), sink)
	make := func(ids ...string) plog.Logs { // host/scope/id
		all := plog.NewLogs()
		var host, scope string
		for _, path := range ids {
			part := strings.Split(path, "/")
			if part[0] != host {
				host, scope = part[0], ""
				all.ResourceLogs().AppendEmpty().Resource().Attributes().PutStr("host", host)
			}
			resource := all.ResourceLogs().At(all.ResourceLogs().Len() - 1)
			if part[1] != scope {
				scope = part[1]
				resource.ScopeLogs().AppendEmpty().Scope().SetName(scope)
			}
			records := resource.ScopeLogs().At(resource.ScopeLogs().Len() - 1).LogRecords()
			records.AppendEmpty().Attributes().PutStr("id", part[2])
		}
		return all
	}
	text := func(all plog.Logs) string {
		var out []string
		for _, resource := range all.ResourceLogs().All() {
			host, _ := resource.Resource().Attributes().Get("host")
			out = append(out, "host "+host.Str())
			for _, scope := range resource.ScopeLogs().All() {
				out = append(out, "scope "+scope.Scope().Name())
				for _, r := range scope.LogRecords().All() {
					id, _ := r.Attributes().Get("id")
					out = append(out, id.Str())
				}
			}
		}
		return strings.Join(out, " ")
	}

	for _, c := range []struct{ in, want string }{
		{"x/s/1 x/s/2 x/t/1 y/s/1", "host x scope s 1 2 host y scope s 1"},
		{"x/s/1 x/t/3 x/t/2 x/t/4 y/t/1", "host x scope t 3 4"},
		{"y/s/5 y/t/6 y/s/1 x/s/5", "host y scope s 5 scope t 6 host x scope s 5"},
	} {
		sink.Reset()
		check(t, p.ConsumeLogs(t.Context(), make(strings.Fields(c.in)...)))
		if got := text(sink.AllLogs()[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestTraces(t *testing.T) {
	sink := &consumertest.TracesSink{}
	f, c := NewFactory(), testConfig("trace_id", "span_id")
	p, err := f.CreateTraces(t.Context(), processortest.NewNopSettings(f.Type()), c, sink)
	check(t, err)
	check(t, p.Start(t.Context(), componenttest.NewNopHost()))
	defer func() { check(t, p.Shutdown(context.Background())) }()
	spans := func(ids ...byte) ptrace.Traces { // pairs: trace, span
		all := ptrace.NewTraces()
		for i := 0; i < len(ids); i += 2 {
			s := all.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
			s.SetTraceID(pcommon.TraceID{ids[i]})
			s.SetSpanID(pcommon.SpanID{ids[i+1]})
		}
		return all
	}
	for _, c := range []struct {
		in   []byte
		want int
	}{
		{[]byte{1, 1, 1, 2, 2, 1, 1, 1}, 3},
		{[]byte{1, 2, 2, 2, 2, 1}, 1},
		{[]byte{1, 1, 1, 2, 2, 1, 2, 2}, 0},
		{[]byte{0, 1, 0, 1, 1, 0, 1, 0}, 4}, // an empty id makes no key
	} {
		sink.Reset()
		check(t, p.ConsumeTraces(t.Context(), spans(c.in...)))
		if n := sink.SpanCount(); n != c.want {
			t.Errorf("%v: %d spans, want %d", c.in, n, c.want)
		}
		for _, all := range sink.AllTraces() {
			if n := all.ResourceSpans().Len(); n != c.want {
				t.Errorf("%v: %d resources, want %d", c.in, n, c.want)
			}
		}
	}

	c.Key = []string{"span_id", "body"}
	if _, err := f.CreateTraces(t.Context(), processortest.NewNopSettings(f.Type()), c, sink); err == nil {
		t.Error("spans with a body")
	}
}

// TestRefused makes the next consumer refuse records. They must pass when they are repeated.
func TestRefused(t *testing.T) {
	refuse := errors.New("no")
	for _, refused := range []error{refuse, consumererror.NewPermanent(refuse), consumererror.NewLogs(refuse, logsOf("b"))} {
		next := &recorder{}
		p := started(t, testConfig(idKey), next)
		p.send(t, "a")
		next.fail = func([]string) error { return refused }
		if err := p.ConsumeLogs(t.Context(), logsOf("a", "b", "b", "c")); !errors.Is(err, refuse) {
			t.Error(err)
		}
		next.fail = nil
		p.send(t, "a c b c")
		next.took(t, "a c b")
		p.send(t, "a b c")
		next.took(t, "")
	}
}

// TestPanic makes the next consumer panic. Its batch must not block later ones.
func TestPanic(t *testing.T) {
	next := &recorder{fail: func([]string) error { panic("test") }}
	p := started(t, testConfig(idKey), next)
	func() {
		defer func() { _ = recover() }()
		p.send(t, "a b")
	}()
	next.fail = nil
	p.send(t, "b a")
	next.took(t, "b a")
}

// TestInFlight sends a batch while another one with one of its keys is being sent.
func TestInFlight(t *testing.T) {
	for _, c := range []struct {
		name, want string
		refused    error
		canceled   bool
	}{
		{"accepted", "d a b c", nil, false},
		{"refused", "d c b", errRefused, false},
		{"canceled", "d a b", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			entered, leave := make(chan bool), make(chan bool)
			next := &recorder{}
			next.fail = func(ids []string) error {
				if ids[0] != "a" {
					return nil
				}
				entered <- true
				<-leave
				return c.refused
			}
			p := started(t, testConfig(idKey), next)
			errs := make(chan error, 2)
			go func() { errs <- p.ConsumeLogs(t.Context(), logsOf("a", "b")) }()
			<-entered

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			second := make(chan error, 1)
			go func() { second <- p.ConsumeLogs(ctx, logsOf("c", "b")) }()
			check(t, p.ConsumeLogs(t.Context(), logsOf("d"))) // a batch of other keys does not wait
			select {
			case err := <-second:
				t.Fatalf("the second batch did not wait: %v", err)
			case <-time.After(20 * time.Millisecond):
			}

			if c.canceled {
				cancel()
				if err := <-second; !errors.Is(err, context.Canceled) {
					t.Errorf("canceled: %v", err)
				}
			}
			close(leave)
			if err := <-errs; !errors.Is(err, c.refused) {
				t.Errorf("the first batch: %v", err)
			}
			if !c.canceled {
				check(t, <-second)
			}
			next.took(t, c.want)

			next.fail = nil
			p.send(t, "a b c")
			next.took(t, strings.Join(map[string][]string{"refused": {"a"}, "canceled": {"c"}}[c.name], " "))
		})
	}
}

// TestConcurrent sends the same keys from many goroutines, in batches of random keys, to a consumer that refuses a third
// of them. Each goroutine repeats its batch until it is accepted. Each key must be accepted exactly once.
func TestConcurrent(t *testing.T) {
	const senders, keys = 8, 600
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	next := &recorder{fail: func([]string) error {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(3) == 0 {
			return errRefused
		}
		return nil
	}}
	c := testConfig(idKey)
	c.State, c.SaveInterval = t.TempDir(), time.Millisecond
	p := started(t, c, next)
	ids := numbered(0, keys)
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			order := rand.New(rand.NewPCG(3, uint64(s))).Perm(keys)
			for len(order) > 0 {
				n := min(1+len(order)%17, len(order))
				batch := make([]string, n)
				for i, at := range order[:n] {
					batch[i] = ids[at]
				}
				for p.ConsumeLogs(t.Context(), logsOf(batch...)) != nil {
				}
				order = order[n:]
			}
		})
	}
	all.Wait()

	count := map[string]int{}
	for _, id := range next.ids {
		count[id]++
	}
	for _, id := range ids {
		if count[id] != 1 {
			t.Errorf("%s was accepted %d times", id, count[id])
		}
	}
	if n := len(p.memory.sending); n > 0 {
		t.Errorf("%d keys are still reserved", n)
	}
}

// TestTime moves the clock: a key is new again after at least TTL and at most 8/7 of it.
func TestTime(t *testing.T) {
	for _, refresh := range []bool{false, true} {
		next := &recorder{}
		c := testConfig(idKey)
		c.Refresh = refresh
		p := newTestLogs(t, c, next)
		now := time.Now()
		p.clock = func() time.Time { return now }
		check(t, p.Start(t.Context(), componenttest.NewNopHost()))
		p.send(t, "a")
		for _, minutes := range []int{20, 39, -300, 300} { // the clock may jump back
			now = now.Add(time.Duration(minutes) * time.Minute)
			p.send(t, "a")
		}
		next.took(t, "a")
		now = now.Add(10 * time.Minute) // 69 since the first, 10 since the last
		p.send(t, "a")
		next.took(t, map[bool]string{false: "a", true: ""}[refresh])
		check(t, p.Shutdown(t.Context()))
	}
}
