package job

import (
	"context"
	"sync"
)

// result is the outcome of a step.
type result struct {
	element              []byte // element to emit
	ranges, keys, shards int64
	void                 bool // the attempt is cancelled, so the bundle emits nothing
}

// bundle runs the elements of a Beam bundle at the same time, each in a goroutine, within the memory limit that all
// bundles of a worker share. It emits and counts only in the goroutine of the bundle, as Beam requires.
type bundle struct {
	ctx     context.Context // context of the steps: ends with the first error
	cancel  context.CancelCauseFunc
	running sync.WaitGroup
	mu      sync.Mutex
	results []result
}

// start runs step in a goroutine as soon as its memory is free, and passes on the results of steps that have ended.
func (b *bundle) start(
	ctx context.Context, l *limit, need int64, emit func(int, []byte),
	step func(ctx context.Context, bytes int64) (result, error),
) error {
	if b.cancel == nil {
		b.ctx, b.cancel = context.WithCancelCause(ctx)
	}

	steps := b.ctx
	bytes, err := l.acquire(steps, need)
	if err != nil { // a step failed, or the worker stops
		return b.end()
	}

	b.running.Go(func() {
		defer l.release(bytes)
		r, err := step(steps, bytes)
		if err != nil {
			b.cancel(fail(err))
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.results = append(b.results, r)
	})
	b.emitResults(ctx, emit)
	return nil
}

// finish waits for all steps and passes on their results.
func (b *bundle) finish(ctx context.Context, emit func(int, []byte)) error {
	if b.cancel == nil { // a bundle without an element
		return nil
	}
	if err := b.end(); err != nil {
		return err
	}
	b.emitResults(ctx, emit)
	return nil
}

// end waits for all steps and returns the first error. Afterwards the bundle is ready for new elements.
func (b *bundle) end() error {
	b.running.Wait()
	err := context.Cause(b.ctx)
	b.cancel(nil)
	b.ctx, b.cancel = nil, nil
	return err
}

// emitResults emits and counts the results so far.
func (b *bundle) emitResults(ctx context.Context, emit func(int, []byte)) {
	b.mu.Lock()
	ready := b.results
	b.results = nil
	b.mu.Unlock()
	for _, r := range ready {
		if r.void {
			continue
		}
		emit(0, r.element)
		countRanges.Inc(ctx, r.ranges)
		countKeys.Inc(ctx, r.keys)
		countShards.Inc(ctx, r.shards)
	}
}
