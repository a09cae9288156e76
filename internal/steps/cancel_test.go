package steps_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/steps"
)

// marks returns the marks of cancelled attempts.
func marks(files map[string]string) (names []string) {
	for name := range files {
		if strings.Contains(name, "/cancelled-") {
			names = append(names, name)
		}
	}
	return names
}

// TestWatch: a mark ends the watch of its attempt within a second, also one that begins later, and no other attempt.
// Finish removes it, which ends the watches that are left.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := memoryOf()
		p := builtPlan(t, "a", out, every...)
		one, stopOne := p.Watch(t.Context(), out, "one")
		two, stopTwo := p.Watch(t.Context(), out, "two")
		defer stopOne()
		defer stopTwo()
		time.Sleep(time.Minute + time.Second/2) // not at a tick
		if one.Err() != nil || two.Err() != nil {
			t.Fatal(context.Cause(one), context.Cause(two))
		}
		if err := p.Cancel(t.Context(), out, "one"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		<-one.Done()
		if took := time.Since(start); took > time.Second || !errors.Is(context.Cause(one), steps.ErrCancelled) {
			t.Errorf("after %v: %v", took, context.Cause(one))
		}
		late, stopLate := p.Watch(t.Context(), out, "one")
		defer stopLate()
		if !errors.Is(context.Cause(late), steps.ErrCancelled) {
			t.Errorf("a late worker of the attempt: %v", context.Cause(late))
		}
		time.Sleep(time.Minute)
		if two.Err() != nil {
			t.Errorf("another attempt: %v", context.Cause(two))
		}
		if _, err := p.Finish(t.Context(), out, steps.Options{}); err != nil || len(out.objects) != lateShards+1 {
			t.Errorf("%v, %s", err, out)
		}
		start = time.Now()
		<-two.Done()
		if took := time.Since(start); took > 5*time.Second || !errors.Is(context.Cause(two), steps.ErrNoPlan) {
			t.Errorf("after %v: %v", took, context.Cause(two))
		}
		late, stopLate = p.Watch(t.Context(), out, "one")
		defer stopLate()
		if !errors.Is(context.Cause(late), steps.ErrNoPlan) {
			t.Errorf("a late worker after Finish: %v", context.Cause(late))
		}
	})
}

// TestWatchUnread: a Store that cannot be read ends no step, and a watch that is stopped reads nothing.
func TestWatchUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := memoryOf()
		p := builtPlan(t, "a", out)
		out.fail(0, false)
		watched, stop := p.Watch(t.Context(), out, "one")
		time.Sleep(time.Minute)
		if watched.Err() != nil {
			t.Errorf("an output that cannot be read: %v", context.Cause(watched))
		}
		stop()
		synctest.Wait()
		ops := out.ops
		time.Sleep(time.Minute)
		if out.ops != ops || errors.Is(context.Cause(watched), steps.ErrCancelled) {
			t.Errorf("%d operations after the stop; %v", out.ops-ops, context.Cause(watched))
		}
	})
}

// TestCancelMarks: a mark changes nothing of the Status, a Finish of this plan or of another one removes it, and after
// Finish none is written.
func TestCancelMarks(t *testing.T) {
	want := files(t, "b")
	for _, out := range outputs(t) {
		a := builtPlan(t, "a", out.store, 0)
		b := builtPlan(t, "b", out.store, 0, 1)
		for _, p := range []*steps.Plan{a, b} {
			before, err := p.Status(t.Context(), out.store)
			if err == nil {
				err = errors.Join(p.Cancel(t.Context(), out.store, "one"), p.Cancel(t.Context(), out.store, "one"))
			}
			after, err2 := p.Status(t.Context(), out.store)
			if err = errors.Join(err, err2); err != nil || fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("%s: status %+v, after the cancel %+v, %v", out.kind, before, after, err)
			}
		}
		if m := marks(out.files()); len(m) != 2 {
			t.Errorf("%s: marks %q", out.kind, m)
		}
		if _, err := b.Build(t.Context(), out.store, 2, steps.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Finish(t.Context(), out.store, steps.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*steps.Plan{a, b} { // by a submitter that is late
			if err := p.Cancel(t.Context(), out.store, "two"); err != nil {
				t.Error(err)
			}
		}
		got := out.files()
		if !sameShards(got, want) {
			t.Errorf("%s: the output has %q", out.kind, slices.Sorted(maps.Keys(got)))
		}
	}
}

// sameShards compares the contents of sets whose files may have other names.
func sameShards(a, b map[string]string) bool {
	contents := func(m map[string]string) (all []string) {
		for name, text := range m {
			if strings.HasSuffix(name, ".bloom") {
				all = append(all, text)
			}
		}
		return slices.Sorted(slices.Values(all))
	}
	return len(a) == len(b) && slices.Equal(contents(a), contents(b))
}

// endlessStore is a Store whose reads of objects that begin with a name, and writes of objects that have it as suffix,
// do not end before their context.
type endlessStore struct {
	steps.Store
	reads, writes string
	began         chan struct{}
}

func (s endlessStore) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := s.Store.Open(ctx, name, offset, length)
	if err != nil || s.reads == "" || !strings.HasPrefix(name, s.reads) {
		return r, err
	}
	return endless{ctx, r, s.began}, nil
}

type endless struct {
	ctx context.Context
	io.ReadCloser
	began chan struct{}
}

func (e endless) Read([]byte) (int, error) {
	e.began <- struct{}{}
	<-e.ctx.Done()
	return 0, context.Cause(e.ctx)
}

func (s endlessStore) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	if s.writes == "" || !strings.HasSuffix(name, s.writes) {
		return s.Store.Write(ctx, name, write)
	}
	return s.Store.Write(ctx, name, func(w io.Writer) error {
		s.began <- struct{}{}
		<-ctx.Done()
		return errors.Join(context.Cause(ctx), write(w))
	})
}

// TestCancelSteps cancels an attempt while it reads a range, writes a run file, searches, and writes a shard. The step
// ends within 5 seconds with the error of its context, and its output does not appear.
func TestCancelSteps(t *testing.T) {
	const keys = 60_000
	var text bytes.Buffer
	for i := range keys {
		fmt.Fprintf(&text, "key-%d\n", i)
	}
	for _, tt := range []struct{ what, spec, reads, writes string }{
		{"range", "fuse", "keys", ""},
		{"run file", "fuse", "", ".run"},
		{"search", "partitioned(bits_per_key=16,effort=max)", "", ""}, // of about 20 s
		{"upload", "fuse", "", ".bloom"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			in := memoryOf("keys.txt", text.String())
			p, err := steps.NewPlan(t.Context(), in, []string{"keys.txt"}, steps.Config{
				Build: bloomery.Config{Spec: tt.spec, Shards: 1},
			})
			if err != nil {
				t.Fatal(err)
			}
			out := endlessStore{Store: memoryOf(), reads: tt.reads, writes: tt.writes, began: make(chan struct{}, 100)}
			source := endlessStore{Store: in, reads: tt.reads, began: out.began}
			if err := p.Save(t.Context(), out); err != nil {
				t.Fatal(err)
			}
			step := func(ctx context.Context) error {
				_, err := p.Range(ctx, source, out, 0, steps.Options{})
				if err == nil {
					if tt.what == "search" {
						out.began <- struct{}{}
					}
					_, err = p.Build(ctx, out, 0, steps.Options{})
				}
				return err
			}
			watched, stop := p.Watch(t.Context(), out, "one")
			ended := make(chan error, 1)
			go func() { ended <- step(watched) }()
			<-out.began
			time.Sleep(100 * time.Millisecond)
			if err := p.Cancel(t.Context(), out, "one"); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			err = <-ended
			took := time.Since(start)
			t.Logf("%v, %v", took, err)
			if took > 5*time.Second || !errors.Is(err, steps.ErrCancelled) && !errors.Is(err, context.Canceled) {
				t.Errorf("after %v: %v", took, err)
			}
			stop()
			if st, err := p.Status(t.Context(), out); err != nil || len(st.MissingShards) != 1 {
				t.Errorf("%+v, %v", st, err)
			}
		})
	}
}
