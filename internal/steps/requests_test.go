package steps_test

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/steps"
)

// counting is a Conditional that counts all requests except List.
type counting struct {
	*conditional
	mu                      sync.Mutex
	reads, writes, removals int
}

func (c *counting) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

func (c *counting) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	c.count(&c.reads)
	return c.conditional.Open(ctx, name, offset, length)
}

func (c *counting) Stat(ctx context.Context, name string) (steps.Object, error) {
	c.count(&c.reads)
	return c.conditional.Stat(ctx, name)
}

func (c *counting) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	c.count(&c.writes)
	return c.conditional.Write(ctx, name, write)
}

func (c *counting) WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error {
	c.count(&c.writes)
	return c.conditional.WriteIf(ctx, name, version, write)
}

func (c *counting) Remove(ctx context.Context, name string) error {
	c.count(&c.removals)
	return c.conditional.Remove(ctx, name)
}

// TestRequests counts the requests of a build in a bucket with R ranges of one group of hashes each, and N shards:
// 6·R + 13·N + R·N reads, R + 2·N writes and R + N removals, and a few for the job. lab/scale and
// docs/measured/scale.md compute with these numbers.
func TestRequests(t *testing.T) {
	const shards = 7
	for _, rangeBytes := range []int64{20_000, 2_000} {
		_, text := lines("key", 20_000)
		in, out := memoryOf("keys", text), &counting{conditional: &conditional{memory: memoryOf()}}
		p, err := steps.NewPlan(t.Context(), in, []string{"keys"},
			steps.Config{Build: bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: shards}},
				RangeBytes: rangeBytes})
		check(t, err)
		check(t, p.Save(t.Context(), out))
		in.ops, out.reads, out.writes = 0, 0, 0
		var done []steps.Done
		o := steps.Options{Workers: 1, Memory: 1} // one read at a time
		for i := range p.Ranges {
			d, err := p.Range(t.Context(), in, out, i, o)
			check(t, err)
			done = append(done, d)
		}
		if _, err := p.Gather(t.Context(), out, done, o); err != nil {
			t.Fatal(err)
		}
		for s := range shards {
			if _, err := p.Build(t.Context(), out, s, o); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Finish(t.Context(), out, o); err != nil {
			t.Fatal(err)
		}
		r := len(p.Ranges)
		for _, c := range []struct {
			what      string
			got, want int
		}{
			{"reads", out.reads + in.ops, 6*r + 13*shards + r*shards},
			{"writes", out.writes, r + 2*shards},
			{"removals", out.removals, r + shards},
		} {
			if c.got < c.want || c.got > c.want+5 {
				t.Errorf("%d ranges, %d shards: %d %s, want %d and at most 5 more", r, shards, c.got, c.what, c.want)
			}
		}
	}
}
