package distribute

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

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
// returns the first error.
func parallel(ctx context.Context, n, workers int, f func(ctx context.Context, i int) error) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && inner.Err() == nil; i = next.Add(1) - 1 {
				if err := f(inner, int(i)); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(inner)
}
