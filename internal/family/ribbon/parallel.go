package ribbon

import (
	"context"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// solveLayer solves the last layer of f for the keys, writes the classes of its buckets, and adds the keys that it
// bumps to next. Hi of keys is multiplied by the factor of the layer, that of next by the one of the layer after it.
func (b *Builder) solveLayer(
	ctx context.Context, f *Filter, solvers []solver, classes []uint8, keys, next *hashes.Sorted,
) error {
	l := &f.layers[len(f.layers)-1]
	work := job{
		layer: l, valueBits: f.valueBits, back: inverse(l.factor), classes: classes, words: f.words,
	}
	forth := factor(uint64(len(f.layers)) + maxLayers*f.seed)
	part := func(h filter.Hash) uint64 { return probe.Position(h.Hi, l.starts) >> segmentBits }
	check := f.valueBits > 0 && len(f.layers) == 1
	do := func(s *solver, j *job) error {
		if check {
			if err := checkValues(j.part.Pieces(), work.back); err != nil {
				return err
			}
		}
		bumped := s.solve(j)
		for i := range bumped {
			bumped[i].Hi *= forth
		}
		return next.AddMany(bumped)
	}
	segments := (l.starts + segmentStart - 1) >> segmentBits
	each := func(send func(job) error) error {
		return keys.Parts(ctx, part, func(p hashes.Part) error {
			j := work
			j.segment, j.part = p.Number, p
			b.done.add(p.Len())
			return send(j)
		})
	}
	if len(solvers) == 1 || segments == 1 {
		return each(func(j job) error { return do(&solvers[0], &j) })
	}
	worker := func(i int) func(job) error { return func(j job) error { return do(&solvers[i], &j) } }
	return parallel.Feed(len(solvers), 0, worker, each)
}

// progress reports how many keys of a build have come to a segment.
type progress struct {
	give  func(filter.Progress) // or nil
	keys  uint64                // all keys
	came  uint64
	start time.Time
	last  time.Time // of the last report
}

// add counts keys and reports them if a tenth of a second has passed.
func (p *progress) add(keys int) {
	p.came += uint64(keys)
	now := time.Now()
	if p.give == nil || p.keys == 0 || now.Sub(p.last) < time.Second/10 {
		return
	}
	p.last = now
	// All layers take about a sixteenth more keys than the first one.
	done := min(float64(p.came)/float64(p.keys+p.keys/16+1), 1)
	p.give(filter.Progress{Done: done, Left: time.Duration(float64(now.Sub(p.start)) * (1 - done) / done)})
}
