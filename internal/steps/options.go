package steps

import (
	"context"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/shard"
)

// Options control how a step runs. They do not change its result.
type Options struct {
	// Secret is bloomery.Config.Hashing.Secret again. A plan with a keyed hash needs it in Range and Build.
	Secret *filter.Secret
	// Workers is the number of goroutines that hash, read and search. Default: GOMAXPROCS.
	Workers int
	// Memory is the maximum size in bytes of the key hashes that Build holds in memory; see bloomery.Building.
	Memory int64
	// TempDir is the folder of temporary files. Default: os.TempDir().
	TempDir string
	// Progress, if not nil, is called from time to time with the share of the step that is done, in [0, 1], by one
	// goroutine at a time.
	Progress func(done float64)
	// Removed, if not nil, is called by Finish for each file of an earlier set or plan that it removes.
	Removed func(name string)
}

func (o Options) workers() int { return parallel.Workers(o.Workers) }

func (o Options) progress(done float64) {
	if o.Progress != nil {
		o.Progress(min(max(done, 0), 1))
	}
}

// rangeMemory is the approximate memory of a Range in bytes.
const rangeMemory = 96 << 20

// mostRanges is the largest number of ranges that Ranges hashes at the same time.
const mostRanges = 8

// RangeAll runs Range for several ranges, some of them at the same time: as many as there are workers, at most 8 and,
// with Options.Memory, at most one for each 96 MiB. The results are in the order of the numbers.
func (p *Plan) RangeAll(ctx context.Context, in Source, out Store, numbers []int, o Options) ([]Done, error) {
	at := mostRanges
	if o.Memory > 0 {
		at = int(min(max(o.Memory/rangeMemory, 1), mostRanges))
	}
	return several(ctx, numbers, at, o, func(ctx context.Context, i int, o Options) (Done, error) {
		return p.Range(ctx, in, out, i, o)
	})
}

// BuildAll runs Build for several shards, as many at the same time as there are workers. They share Options.Memory. The
// results are in the order of the numbers.
func (p *Plan) BuildAll(ctx context.Context, out Store, numbers []int, o Options) ([]shard.Entry, error) {
	return several(ctx, numbers, p.Shards, o, func(ctx context.Context, s int, o Options) (shard.Entry, error) {
		return p.Build(ctx, out, s, o)
	})
}

// several calls f for all numbers, with at most min(most, workers) calls at a time, and returns the results in the same
// order. Each call gets its share of workers and memory.
func several[T any](
	ctx context.Context, numbers []int, most int, o Options,
	f func(ctx context.Context, number int, o Options) (T, error),
) ([]T, error) {
	n := len(numbers)
	at := max(min(n, most, o.workers()), 1)
	each := o
	each.Workers = max(o.workers()/at, 1)
	if o.Memory > 0 {
		each.Memory = max(o.Memory/int64(at), 1)
	}

	var mu sync.Mutex
	parts, sum := make([]float64, n), 0.0
	results := make([]T, n)
	return results, parallel.Do(ctx, n, at, func(ctx context.Context, i int) (err error) {
		own := each
		if o.Progress != nil {
			own.Progress = func(done float64) {
				mu.Lock()
				defer mu.Unlock()
				sum += done - parts[i]
				parts[i] = done
				o.progress(sum / float64(n))
			}
		}
		results[i], err = f(ctx, numbers[i], own)
		return err
	})
}
