package anneal

import (
	"context"
	"errors"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/parallel"
)

// Goal is the result that a build must reach.
type Goal struct {
	// Rate is the highest posterior rate after Later more keys, in (0, 1); 0 allows any rate.
	Rate  float64
	Later uint64
	// Clock measures an Effort by time. Only tests set it.
	Clock *Clock
}

// Job is one build of a family that searches. G is the geometry of its filters, F the filter.
type Job[G any, F family.Filter] interface {
	// Geometry returns the geometry for n distinct keys and the Effort of the first search.
	Geometry(n uint64) (G, filter.Effort, error)
	// New returns a filter for n keys with no bit set.
	New(g G, n uint64) (F, error)
	// Parts returns the number of parts and a function that returns the part of a key. The part never decreases in the
	// order of the hashes.
	Parts(g G) (parts uint64, of func(filter.Hash) uint64)
	// Worker returns a function that searches one part and writes its bits to f. Each worker calls Worker once and the
	// function for one part after the other; workers run at the same time.
	Worker(f F, pace *Pace) func(part uint64, keys []filter.Hash) error
	// Rate completes f after the search and returns its posterior rate after the later keys.
	Rate(f F) float64
	// Longer returns the Effort of another search with the same geometry, or false if that is not worth its time.
	Longer(g G, was filter.Effort, n uint64) (filter.Effort, bool)
	// Larger returns a geometry that is larger by about the given number of bits, for a filter that missed the Goal
	// with this rate. The error wraps filter.ErrConfig and names the rate if no geometry of the family reaches the
	// goal.
	Larger(g G, n uint64, rate, bits float64) (G, error)
}

// Builder gathers keys and searches at the end. The families document it.
type Builder[G any, F family.Filter] struct {
	hashes.Intake
	Goal Goal
	job  Job[G, F]
}

// NewBuilder returns a Builder. Its Goal is the rate of the Config: the rate of Size, or the target of the Effort.
func NewBuilder[G any, F family.Filter](c Common, job Job[G, F]) *Builder[G, F] {
	b := &Builder[G, F]{Goal: Goal{Rate: c.Effort.Target, Later: c.Later}, job: job}
	if !c.From && c.Size.FPR != 0 {
		b.Goal.Rate = c.Size.FPR
	}
	b.Intake = hashes.NewIntake(hashes.Config{Expect: c.Keys, Workers: c.Workers})
	return b
}

// Build makes a filter of the gathered keys that keeps the Goal, and closes the Intake. All families that search share
// this loop:
//
//	gather ─▶ geometry ─▶ search ─▶ rate kept? ── yes ─▶ filter
//	                        ▲          │ no
//	                        └── longer search, or more room
//
// The geometry comes from a forecast. If the forecast was too low, a longer search or a slightly larger filter keeps
// the rate.
//
// If ctx ends with the cause filter.ErrEnough, Build makes the shortest search of the other parts, and returns the
// filter even if its rate is too high. If ctx ends with another cause, Build returns ctx.Err().
func (b *Builder[G, F]) Build(ctx context.Context) (family.Filter, error) {
	goal, job := b.Goal, b.job
	start := goal.Clock.Now()
	defer b.Close()
	needed, cancel := unlessEnough(ctx)
	defer cancel()
	n, err := b.Keys.Finish(needed)
	if err != nil {
		return nil, err
	}

	g, effort, err := job.Geometry(n)
	if err != nil {
		return nil, err
	}

	for {
		f, err := searchOnce(ctx, &b.Intake, goal.Clock, job, g, n, effort, start)
		if err != nil {
			return nil, err
		}

		rate := job.Rate(f)
		if goal.Rate == 0 || n == 0 || ctx.Err() != nil || rate <= goal.Rate {
			return f, nil
		}
		if longer, ok := job.Longer(g, effort, n); ok {
			effort = longer
			continue
		}

		bits := moreBits(rate/goal.Rate, float64(n)+float64(goal.Later))
		if g, err = job.Larger(g, n, rate, bits); err != nil {
			return nil, err
		}
	}
}

// searchOnce makes one filter: it searches the parts, several at once.
func searchOnce[G any, F family.Filter](
	ctx context.Context, in *hashes.Intake, clock *Clock, job Job[G, F], g G, n uint64,
	effort filter.Effort, start time.Time,
) (f F, err error) {
	if f, err = job.New(g, n); err != nil {
		return f, err
	}
	parts, of := job.Parts(g)
	pace := newPace(ctx, clock, effort, start, n, workerCount(in.Workers, parts))
	defer pace.startReports(in.Progress)()
	return f, pace.eachPart(in.Keys, of, func() func(uint64, []filter.Hash) error { return job.Worker(f, pace) })
}

// workerCount returns the number of goroutines that search: n, or GOMAXPROCS for 0, but at most one per part.
func workerCount(n int, parts uint64) int {
	return int(min(uint64(parallel.Workers(n)), parts))
}

// unlessEnough returns a context that ends when ctx does, except if the cause is filter.ErrEnough. It is for the work
// before the search: until the search begins, Build has no filter that it could return.
func unlessEnough(ctx context.Context) (context.Context, context.CancelFunc) {
	to, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), filter.ErrEnough) {
			cancel()
		}
	})
	return to, func() { stop(); cancel() }
}

// Verify returns an error if f lacks one of the keys. A worker calls it for each part that it has searched; it takes
// about a hundredth of the time of the search.
func Verify(f family.Filter, keys []filter.Hash) error {
	for _, h := range keys {
		if !f.Has(h) {
			return errors.New("a key is missing after the build; this is a bug of the search, please report it")
		}
	}
	return nil
}
