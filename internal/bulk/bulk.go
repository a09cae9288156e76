// Package bulk implements jobs on a Set and a list of keys: removals and their preview, the check that a new Set has
// not lost keys, and the Verifier.
package bulk

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
)

// Options configure a job that keeps the hashes of a list.
type Options struct {
	Workers  int
	Memory   int64 // limit in bytes of the hashes in memory; 0: hashes.DefaultMemory
	TempDir  string
	Progress func(filter.Progress)
}

func (o Options) memory() int64 { return cmp.Or(o.Memory, hashes.DefaultMemory) }

// Spill keeps hashes by shard.
type Spill struct {
	*hashes.ByShard
	shards int
}

// NewSpill returns an empty Spill for the shards of e.
func (o Options) NewSpill(e engine.Engine) *Spill {
	n := e.Facts().Stored.Shards
	return &Spill{hashes.NewByShard(n, o.memory(), o.TempDir), n}
}

// EachShard calls f for each shard that has hashes, in order, until f fails. done is the share of the shards with this
// one included.
func (s *Spill) EachShard(f func(i int, done float64) error) error {
	for i := range s.shards {
		if s.Count(i) == 0 {
			continue
		}
		if err := f(i, float64(i+1)/float64(s.shards)); err != nil {
			return err
		}
	}
	return nil
}

// List keeps the hashes of a Removal and returns them grouped: equal hashes follow each other.
type List interface {
	AddMany(hs []filter.Hash) error
	// Finish is called after the last AddMany.
	Finish(ctx context.Context) error
	// loss returns the mean number of keys that become absent for each absent key in the list. keep, in [0, 1], is the
	// share of the filter's keys that are not in the list. If ok is false, each removal loses at most one key, and the
	// mean is keep times the posterior rate.
	meanLoss(keep float64) (loss float64, ok bool)
	// Each calls f with all hashes, and reports progress from done to done + 0.5.
	Each(ctx context.Context, done float64, f func(hs []filter.Hash) error) error
	Close() error
}

// NewList returns the List for a removal from e.
func NewList(e engine.Engine, o Options) (List, error) {
	if parts := e.Parts(); parts != nil {
		if err := engine.Can(e, family.CanRemove); err != nil {
			return nil, err
		}
		return &listByShard{o.NewSpill(e), parts, o.Progress}, nil
	}
	if _, ok := e.Facts().Filter.(family.Remover); !ok {
		return nil, e.Lacks(family.CanRemove)
	}
	keys := hashes.NewSorted(hashes.Config{Memory: o.memory(), Dir: o.TempDir, Workers: o.Workers, Copies: true})
	return &listOfOne{Sorted: keys, set: e, report: o.Progress}, nil
}

// listOfOne is the list for one filter.
type listOfOne struct {
	*hashes.Sorted
	set    engine.Engine
	report func(filter.Progress)
	added  uint64
}

func (l *listOfOne) meanLoss(keep float64) (float64, bool) { return lossOf(l.set, keep) }

// lossOf is List.loss for one filter. In family counting, the removal of one absent key can make several keys absent.
func lossOf(e engine.Engine, keep float64) (loss float64, ok bool) {
	f, ok := e.Facts().Filter.(interface{ EstimateLoss(keep float64) float64 })
	if !ok {
		return 0, false
	}
	err := e.Guarded(func() error { loss = f.EstimateLoss(keep); return nil })
	return loss, err == nil
}

func (l *listOfOne) Finish(ctx context.Context) (err error) {
	l.added, err = l.Sorted.Finish(ctx)
	return err
}

// partKeys is the approximate number of keys that Each passes to f at once.
const partKeys = 4096

func (l *listOfOne) Each(ctx context.Context, done float64, f func(hs []filter.Hash) error) error {
	shift := 64 - min(bits.Len64(l.added/partKeys), 63)
	part := func(h filter.Hash) uint64 { return h.Hi >> shift }
	return l.Sorted.Each(ctx, part, func(_ uint64, hs []filter.Hash) error {
		if l.report != nil {
			l.report(filter.Progress{Done: done + float64(hs[0].Hi)/(1<<65)})
		}
		return f(hs)
	})
}

// listByShard is the list for a sharded Set: f gets the keys of one shard at a time.
type listByShard struct {
	*Spill
	parts  engine.Parts
	report func(filter.Progress)
}

func (l *listByShard) AddMany(hs []filter.Hash) error { return l.Add(hs) }

func (l *listByShard) Finish(context.Context) error { return nil }

// meanLoss is the mean over the shards that the hashes belong to.
func (l *listByShard) meanLoss(keep float64) (loss float64, ok bool) {
	n := 0
	err := l.EachShard(func(i int, _ float64) error {
		part, err := l.parts.Shard(i)
		if err != nil {
			return err
		}
		lost, ok := lossOf(part, keep)
		if !ok {
			return filter.ErrUnsupported
		}
		loss += lost
		n++
		return nil
	})
	return loss / float64(n), err == nil && n > 0
}

func (l *listByShard) Each(ctx context.Context, done float64, f func(hs []filter.Hash) error) error {
	return l.EachShard(func(i int, part float64) error {
		hs, err := l.sorted(ctx, i)
		if err == nil {
			err = f(hs)
		}
		if err != nil {
			return l.parts.Fail(i, err)
		}
		if l.report != nil {
			l.report(filter.Progress{Done: done + part/2})
		}
		return nil
	})
}

// sorted returns the hashes of a shard in order.
func (l *listByShard) sorted(ctx context.Context, i int) (hs []filter.Hash, err error) {
	hs = make([]filter.Hash, 0, l.Count(i))
	err = l.ByShard.Each(ctx, i, func(part []filter.Hash) error { hs = append(hs, part...); return nil })
	slices.SortFunc(hs, func(a, b filter.Hash) int { return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo)) })
	return hs, err
}
