package one

import (
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// EstimateInterval estimates the number of distinct keys, with a 95% interval, from the bits if the family can, else it
// returns Len.
func (s *Set) EstimateInterval() (e engine.Estimate, err error) {
	if err := s.missing(); err != nil {
		return e, err
	}
	if engine.Can(s, family.CanEstimate) != nil {
		n := float64(s.Len())
		return engine.Estimate{Keys: n, Low: n, High: n, Counted: true}, s.Err()
	}
	plain, err := s.Single()
	if err != nil {
		return e, err
	}
	cells, ok := plain.main.(family.CellFilter)
	if !ok {
		return e, s.Lacks(family.CanEstimate)
	}
	err = plain.Guarded(func() error {
		free, err := cells.Free(plain.main)
		e.Keys, e.Low, e.High = probe.KeysInCells(cells.Cells(), free)
		return err
	})
	return e, err
}

// EstimateOverlap estimates how many distinct keys two sets hold, together and in common.
func (s *Set) EstimateOverlap(with engine.Engine) (v engine.Overlap, err error) {
	o, err := s.other(with)
	if err != nil {
		return v, err
	}
	if err := engine.Can(s, family.CanEstimate); err != nil {
		return v, err
	}
	a, err := s.Single()
	if err != nil {
		return v, err
	}
	b, err := o.Single()
	if err != nil {
		return v, err
	}
	mine, ok := a.main.(family.CellFilter)
	if !ok {
		return v, families.Lacks(a.Spec(), family.CanEstimate)
	}
	theirs, ok := b.main.(family.CellFilter)
	switch {
	case !ok:
		return v, families.Lacks(b.Spec(), family.CanEstimate)
	case s.hasher != o.hasher:
		return v, engine.ErrHasher
	}
	count := func() error {
		both, err := mine.Free(b.main)
		if err != nil {
			return err
		}
		inA, _ := mine.Free(a.main) // a filter matches itself
		inB, _ := theirs.Free(b.main)
		c := mine.Cells()
		v.A.Keys, v.A.Low, v.A.High = probe.KeysInCells(c, inA)
		v.B.Keys, v.B.Low, v.B.High = probe.KeysInCells(c, inB)
		v.Union.Keys, v.Union.Low, v.Union.High = probe.KeysInCells(c, both)
		v.Intersection.Keys, v.Intersection.Low, v.Intersection.High = probe.CommonInCells(c, inA, inB, both)
		return nil
	}
	err = a.Guarded(func() error { return b.Guarded(count) })
	return v, err
}
