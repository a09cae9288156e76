package job

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// countersOf is the name space of the counters of a job.
const countersOf = "bloomery"

var (
	countRanges = beam.NewCounter(countersOf, "ranges")
	countKeys   = beam.NewCounter(countersOf, "keys")
	countShards = beam.NewCounter(countersOf, "shards")
)

func init() {
	register.DoFn2x0[[]byte, func(int)](&numbersFn{})
	register.DoFn3x1[context.Context, int, func(int, []byte), error](&hashFn{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(int, int64), error](&gatherFn{})
	register.DoFn4x1[context.Context, int, int64, func(int, []byte), error](&buildFn{})
	register.DoFn3x1[context.Context, int, func(*[]byte) bool, error](&completeFn{})
	register.Emitter1[int]()
	register.Emitter2[int, []byte]()
	register.Emitter2[int, int64]()
	register.Iter1[[]byte]()
}

// pipelineOf returns the pipeline of a task. See the package comment.
func pipelineOf(t Task) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	ranges := beam.ParDo(s.Scope("ranges"), &numbersFn{N: t.Ranges}, beam.Impulse(s))
	hashed := beam.ParDo(s.Scope("hash"), &hashFn{Task: t}, beam.Reshuffle(s, ranges))
	shards := beam.ParDo(s.Scope("gather"), &gatherFn{Task: t}, beam.GroupByKey(s, hashed))
	built := beam.ParDo(s.Scope("build"), &buildFn{Task: t}, beam.Reshuffle(s, shards))
	beam.ParDo0(s.Scope("complete"), &completeFn{Task: t}, beam.GroupByKey(s, built))
	return p
}

// numbersFn emits the numbers below N.
type numbersFn struct{ N int }

func (f *numbersFn) ProcessElement(_ []byte, emit func(int)) {
	for i := range f.N {
		emit(i)
	}
}

// hashFn hashes the keys of a range into a run file and emits its steps.Done, with the key 0.
type hashFn struct {
	Task Task
	bundle
}

func (f *hashFn) ProcessElement(ctx context.Context, i int, emit func(int, []byte)) error {
	w, err := open(ctx, f.Task)
	if err != nil {
		return fail(err)
	}
	return f.start(ctx, w.limit, rangeMemory(f.Task.Shards), emit,
		func(ctx context.Context, bytes int64) (result, error) {
			return w.during(ctx, f.Task.Attempt, func(ctx context.Context) (result, error) { return w.hashRange(ctx, i, bytes) })
		})
}

func (f *hashFn) FinishBundle(ctx context.Context, emit func(int, []byte)) error {
	return f.finish(ctx, emit)
}

// gatherFn receives the results of all ranges, tells the builds where the hashes are, and emits each shard with its
// expected number of keys.
type gatherFn struct{ Task Task }

func (f *gatherFn) ProcessElement(
	ctx context.Context, _ int, next func(*[]byte) bool, emit func(int, int64),
) error {
	w, err := open(ctx, f.Task)
	if err != nil {
		return fail(err)
	}

	var keys uint64
	r, err := w.during(ctx, f.Task.Attempt, func(ctx context.Context) (r result, err error) {
		keys, err = w.gatherRanges(ctx, next)
		return r, err
	})
	if err != nil || r.void {
		return fail(err)
	}

	for s := range f.Task.Shards {
		emit(s, int64(keys)/int64(f.Task.Shards))
	}
	return nil
}

// buildFn builds a shard and emits its number, with the key 0. Without an output, Prism 2.77 would wait for the bundle
// in a loop that keeps a processor busy.
type buildFn struct {
	Task Task
	bundle
}

func (f *buildFn) ProcessElement(ctx context.Context, s int, keys int64, emit func(int, []byte)) error {
	w, err := open(ctx, f.Task)
	if err != nil {
		return fail(err)
	}
	return f.start(ctx, w.limit, shardMemory(w.plan.Spec, uint64(keys)), emit,
		func(ctx context.Context, bytes int64) (result, error) {
			return w.during(ctx, f.Task.Attempt, func(ctx context.Context) (result, error) { return w.build(ctx, s, bytes) })
		})
}

func (f *buildFn) FinishBundle(ctx context.Context, emit func(int, []byte)) error {
	return f.finish(ctx, emit)
}

// completeFn requires all shards.
type completeFn struct{ Task Task }

func (f *completeFn) ProcessElement(ctx context.Context, _ int, next func(*[]byte) bool) error {
	w, err := open(ctx, f.Task)
	if err != nil {
		return fail(err)
	}
	_, err = w.during(ctx, f.Task.Attempt, func(context.Context) (result, error) {
		return result{}, complete(f.Task.Shards, next)
	})
	return fail(err)
}
