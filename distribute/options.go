package distribute

import (
	"context"
	"runtime"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

// Options control how a step runs. They do not change its result.
type Options struct {
	// Secret is that of bloomery.Config.Secret. A plan with a keyed hash needs it in Range and Build.
	Secret *[filter.SecretSize]byte
	// Workers is the number of goroutines that hash, read and search. Default: GOMAXPROCS.
	Workers int
	// Memory is the maximum size in bytes of the key hashes that Build holds in memory; see bloomery.Config.Memory.
	Memory int64
	// TempDir is the folder of temporary files. Default: os.TempDir().
	TempDir string
	// Formats are those that were given to NewPlan.
	Formats Formats
	// Progress, if not nil, is called now and then with the part of the step that is done, in [0, 1], by one goroutine
	// at a time.
	Progress func(done float64)
	// Removed, if not nil, is called by Finish for each file of an earlier set or plan that it removes.
	Removed func(name string)
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o Options) progress(done float64) {
	if o.Progress != nil {
		o.Progress(min(max(done, 0), 1))
	}
}

// parallel calls f(ctx, i) for all i below n, workers at a time. After an error it starts no more, cancels ctx and
// returns the error with the lowest i among those that ended by themselves.
func parallel(ctx context.Context, n, workers int, f func(ctx context.Context, i int) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	next, failed := 0, n
	for range min(workers, n) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= n || first != nil || inner.Err() != nil
				mu.Unlock()
				if stop {
					return
				}
				if err := f(inner, i); err != nil {
					mu.Lock()
					if first == nil || i < failed && inner.Err() == nil {
						first, failed = err, i
					}
					mu.Unlock()
					cancel()
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return first
}
