package job

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// taskManagers imitates the runners of a pool. They serve its workers until a test ends their control stream.
type taskManagers struct {
	mu      sync.Mutex
	streams map[string]chan struct{} // control streams that are open, by id and control endpoint
	starts  int
}

func (m *taskManagers) serve(ctx context.Context, r *fnpb.StartWorkerRequest) error {
	name, end := r.GetWorkerId()+" "+r.GetControlEndpoint().GetUrl(), make(chan struct{})
	m.mu.Lock()
	if m.streams[name] != nil {
		m.mu.Unlock()
		return fmt.Errorf("%s is served twice at the same time", name)
	}
	m.streams[name] = end
	m.starts++
	m.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-end:
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.streams, name)
	return nil
}

// end ends a control stream.
func (m *taskManagers) end(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.streams[name])
}

// expect waits until the running workers are exactly want, and until pools have started the given number of workers in
// total.
func (m *taskManagers) expect(t *testing.T, starts int, want ...string) {
	t.Helper()
	var now []string
	n := 0
	for range 200 {
		m.mu.Lock()
		now, n = slices.Sorted(maps.Keys(m.streams)), m.starts
		m.mu.Unlock()
		if n == starts && slices.Equal(now, want) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d starts, workers %q; want %d, %q", n, now, starts, want)
}

// client is a connection to a pool.
type client struct {
	t *testing.T
	fnpb.BeamFnExternalWorkerPoolClient
}

func connect(t *testing.T, p *pool) client {
	c, err := grpc.NewClient(p.at, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return client{t, fnpb.NewBeamFnExternalWorkerPoolClient(c)}
}

func endpoint(url string) *pipepb.ApiServiceDescriptor { return &pipepb.ApiServiceDescriptor{Url: url} }

func (c client) start(id, control string) {
	c.t.Helper()
	r, err := c.StartWorker(c.t.Context(), &fnpb.StartWorkerRequest{
		WorkerId: id, ControlEndpoint: endpoint(control), LoggingEndpoint: endpoint("localhost:1"),
	})
	if err != nil || r.GetError() != "" {
		c.t.Fatalf("starting %s at %s: %v %s", id, control, err, r.GetError())
	}
}

func (c client) stop(id string) {
	c.t.Helper()
	r, err := c.StopWorker(c.t.Context(), &fnpb.StopWorkerRequest{WorkerId: id})
	if err != nil || r.GetError() != "" {
		c.t.Fatalf("stopping %s: %v %s", id, err, r.GetError())
	}
}

// TestPool speaks the protocol of a worker pool like two task managers that both number their workers from 1-1.
func TestPool(t *testing.T) {
	p, err := startPool(t.Context(), "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &taskManagers{streams: map[string]chan struct{}{}}
	p.serve = m.serve
	one, two, three := connect(t, p), connect(t, p), connect(t, p)

	one.start("1-1", "host:1")
	two.start("1-1", "host:2")
	m.expect(t, 2, "1-1 host:1", "1-1 host:2")
	one.stop("1-1")
	m.expect(t, 2, "1-1 host:2")
	one.stop("1-1") // repeated: the worker of the other task manager keeps running
	three.stop("1-1")
	m.expect(t, 2, "1-1 host:2")

	one.start("1-1", "host:1") // a new attempt in the same task manager
	two.start("2-1", "host:2")
	m.expect(t, 4, "1-1 host:1", "1-1 host:2", "2-1 host:2")

	three.start("1-1", "host:1") // a restarted task manager at the same endpoint: the old worker ends first
	m.expect(t, 5, "1-1 host:1", "1-1 host:2", "2-1 host:2")
	one.stop("1-1") // by the old task manager
	m.expect(t, 5, "1-1 host:1", "1-1 host:2", "2-1 host:2")

	m.end("1-1 host:2") // Beam for Java ends the control stream before the request
	m.expect(t, 5, "1-1 host:1", "2-1 host:2")
	two.stop("1-1")
	m.expect(t, 5, "1-1 host:1", "2-1 host:2")
	two.start("1-1", "host:2") // after its worker has ended
	m.expect(t, 6, "1-1 host:1", "1-1 host:2", "2-1 host:2")

	two.start("1-1", "host:3") // one connection serves two endpoints, so a request is ambiguous
	two.stop("1-1")
	m.expect(t, 7, "1-1 host:1", "1-1 host:2", "1-1 host:3", "2-1 host:2")

	p.stop()
	m.expect(t, 7)
	if r, err := p.StartWorker(t.Context(), &fnpb.StartWorkerRequest{
		WorkerId: "3-1", ControlEndpoint: endpoint("host:1"), LoggingEndpoint: endpoint("host:1"),
	}); err != nil || !strings.Contains(r.GetError(), "stopped") {
		t.Errorf("a start after the stop: %v, %v", r, err)
	}
}

// TestPoolRefuses checks that a request without endpoints, or with authentication, is refused with a text for the
// runner.
func TestPoolRefuses(t *testing.T) {
	p := newPool(t.Context(), nil)
	secure := endpoint("host:1")
	secure.Authentication = &pipepb.AuthenticationSpec{}
	for _, tt := range []struct {
		control, logging *pipepb.ApiServiceDescriptor
		says             string
	}{
		{nil, endpoint("host:1"), "no control endpoint"},
		{endpoint("host:1"), nil, "no logging endpoint"},
		{secure, endpoint("host:1"), "authentication"},
	} {
		r, err := p.StartWorker(t.Context(), &fnpb.StartWorkerRequest{
			WorkerId: "1-1", ControlEndpoint: tt.control, LoggingEndpoint: tt.logging,
		})
		if err != nil || !strings.Contains(r.GetError(), tt.says) {
			t.Errorf("%v, %v; want %s", r, err, tt.says)
		}
	}
}

// TestPoolEndsSteps checks that the end of a worker's control stream ends the context of its steps. A worker that does
// not end may delay a stop by at most endTimeout.
func TestPoolEndsSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		contexts, release := make(chan context.Context, 2), make(chan struct{})
		p := newPool(t.Context(), func(ctx context.Context, r *fnpb.StartWorkerRequest) error {
			contexts <- ctx
			if r.GetWorkerId() == "stuck" {
				<-release
			}
			return nil
		})
		start := func(id string) {
			r := &fnpb.StartWorkerRequest{WorkerId: id, ControlEndpoint: endpoint("h:1"), LoggingEndpoint: endpoint("h:1")}
			if a, err := p.StartWorker(t.Context(), r); err != nil || a.GetError() != "" {
				t.Fatal(a, err)
			}
		}
		start("1-1")
		<-(<-contexts).Done()
		start("stuck")
		ctx, begin := <-contexts, time.Now()
		if _, err := p.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "stuck"}); err != nil || ctx.Err() == nil {
			t.Errorf("%v; the context of the worker: %v", err, ctx.Err())
		}
		if took := time.Since(begin); took != endTimeout {
			t.Errorf("the stop took %v", took)
		}
		close(release)
		p.stop()
	})
}
