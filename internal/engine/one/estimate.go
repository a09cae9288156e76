package one

import (
	"cmp"

	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// EstimateInterval estimates the number of distinct keys from the bits, with a 95% interval. If the family cannot
// estimate it, EstimateInterval returns Len, or for a filter with counters the number of distinct fingerprints.
func (s *Set) EstimateInterval() (e engine.Estimate, err error) {
	if err := s.missing(); err != nil {
		return e, err
	}
	if engine.Can(s, family.CanEstimate) != nil {
		keys, err := s.countKeys()
		n := float64(keys)
		return engine.Estimate{Keys: n, Low: n, High: n, Counted: true}, cmp.Or(err, s.Err())
	}

	plain, cells, err := s.cellsOf()
	if err != nil {
		return e, err
	}

	err = plain.Guarded(func() error {
		free, err := cells.Free(plain.main)
		e.Keys, e.Low, e.High = probe.KeysInCells(cells.Cells(), free)
		return err
	})
	return e, err
}

// countKeys returns Len, or for a filter with counters, in which a key counts several times, the number of distinct
// fingerprints, which is at most the number of distinct keys.
func (s *Set) countKeys() (n uint64, err error) {
	if !family.Given(s.Spec(), "counting") {
		return s.Len(), nil
	}

	plain, err := s.Single()
	if err != nil {
		return 0, err
	}
	table, ok := plain.main.(family.ChainTable)
	if !ok {
		return s.Len(), nil
	}

	err = plain.Guarded(func() error {
		shape, read := table.ChainShape(), table.BucketReader()
		var b family.ChainBucket
		for i := range shape.Buckets {
			read(i, &b)
			at := 0
			for _, length := range b.Lengths {
				chain := b.Cells[at : at+int(length)]
				at += int(length)
				for c, cell := range chain { // a full counter continues in the next cell
					if c == 0 || cell>>shape.Payload != chain[c-1]>>shape.Payload {
						n++
					}
				}
			}
		}
		return nil
	})
	return n, err
}

// cellsOf returns the filter in the form for one writer, and its cells.
func (s *Set) cellsOf() (plain *Set, cells family.CellFilter, err error) {
	if err = engine.Can(s, family.CanEstimate); err == nil {
		plain, err = s.Single()
	}
	if err != nil {
		return nil, nil, err
	}
	cells, ok := plain.main.(family.CellFilter)
	if !ok {
		return nil, nil, families.Lacks(plain.Spec(), family.CanEstimate)
	}
	return plain, cells, nil
}

// EstimateOverlap estimates the numbers of distinct keys of two sets, of their union and of their intersection.
func (s *Set) EstimateOverlap(with engine.Engine) (v engine.Overlap, err error) {
	o, err := s.otherOne(with)
	if err != nil {
		return v, err
	}

	a, mine, err := s.cellsOf()
	if err != nil {
		return v, err
	}

	b, theirs, err := o.cellsOf()
	switch {
	case err != nil:
		return v, err
	}
	if err := engine.SameHasher(s.hasher, o.hasher); err != nil {
		return v, err
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
