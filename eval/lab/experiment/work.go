package experiment

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Work counts the finished work of an experiment. It is safe for concurrent use.
type Work struct {
	mu        sync.Mutex
	done, all float64
	tell      func(float64)
}

// Work returns a counter of an amount of work, in any unit. Begin must have been called.
func (c *Config) Work(all float64) *Work { return &Work{all: all, tell: c.Progress} }

// Step adds finished work and reports the progress.
func (w *Work) Step(by float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = min(w.all, w.done+by)
	w.tell(w.done / w.all)
}

// Each calls f for 0 ... n-1 on all cores and returns the results in that order, for any number of cores. Each
// call is by units of w, which may be nil. If f returns an error, Each returns the first one and cancels the context of
// the other calls.
func Each[T any](
	ctx context.Context, w *Work, by float64, n int, f func(ctx context.Context, i int) (T, error),
) ([]T, error) {
	out := make([]T, n)
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() (err error) {
			if err := inner.Err(); err != nil {
				return err
			}
			if out[i], err = f(inner, i); err == nil && w != nil {
				w.Step(by)
			}
			return err
		})
	}
	return out, g.Wait()
}
