package rankindexed

import (
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

var (
	errIndex   = errors.New("the index of a bucket and its cells do not go together")
	errPointer = errors.New("an extension is not there, has two buckets, or none and is not empty")
	errKeys    = errors.New("the number of keys is not that of the cells")
)

func (f *Filter) spec() filter.Spec { return f.g.Spec() }

// Spec returns the Spec that fixes the geometry.
func (g Geometry) Spec() filter.Spec {
	s := filter.NewSpec(Family, "buckets", g.Buckets, "capacity", g.Capacity, "cells", g.Cells[0], "chains", g.Chains, "remainder", g.Remainder)
	if g.Counting {
		s = s.With("counting", 1)
	}
	for name, n := range map[string]uint64{
		"cells2": uint64(g.Cells[1]), "cells3": uint64(g.Cells[2]), "pool2": g.Pools[1], "pool3": g.Pools[2],
		"growth": uint64(g.Growth), "value_bits": uint64(g.ValueBits),
	} {
		if n > 0 {
			s = s.With(name, n)
		}
	}
	return s
}

// Encode returns three sections: the buckets, the second-level extensions and the third-level ones, each a whole number of
// words. Bits count from the lowest of the first word. A bucket is
//
//	chains                base index: is chain l there?
//	cells                 higher index: has cell c another one behind it?
//	pointer               number of its second-level extension + 1, or 0
//	cells × width         remainder in the high bits; counter - 1, or value, in the low ones
//
// and an extension pointer, higher index and cells; it goes on where the bucket ends. A pointer has as many bits as the
// number of extensions, and Growth. What is not in use is 0.
func (f *Filter) Encode() filter.Encoded {
	return filter.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.table, f.pools[1].words, f.pools[2].words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec, or an error wrapping
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	g, cells, trimmed, err := geometry(s)
	switch {
	case err != nil:
		return nil, err
	case trimmed:
		return []uint64{g.trimmedWords(cells)}, nil
	}
	return g.sections(), nil
}

// geometry reads the canonical Spec of a filter, or of a trimmed one with that many cells, and no other.
func geometry(s filter.Spec) (g Geometry, cells uint64, trimmed bool, err error) {
	if trimmed = s.Has("trimmed"); trimmed {
		r := s.Reader()
		cells = r.Uint("trimmed")
		s = s.Without("trimmed")
	}
	c, err := ConfigFromSpec(s, 0)
	if err != nil {
		return g, 0, false, err
	}
	if c.Geometry == nil || !c.Geometry.Spec().Equal(s) {
		return g, 0, false, &filter.ConfigError{Field: "spec", Value: s, Reason: "want the geometry of a built filter"}
	}
	if trimmed && (cells > maxKeys || cells > c.Geometry.most()) {
		return g, 0, false, &filter.ConfigError{Field: "trimmed", Value: cells, Reason: "more cells than the filter has"}
	}
	return *c.Geometry, cells, trimmed, nil
}

// Decode makes the filter from what Encode gave, or the Encode of a Trimmed, whose sections have the sizes of SectionWords. It
// keeps the words of the former.
func Decode(e filter.Encoded) (*Filter, error) {
	if err := e.CheckSections(SectionWords(e.Spec)); err != nil {
		return nil, err
	}
	g, cells, trimmed, err := geometry(e.Spec)
	if err != nil {
		return nil, err
	}
	if trimmed {
		return g.untrim(e, cells)
	}
	f := over(g, [levels][]uint64(e.Sections))
	f.keys = e.Keys
	for b := range f.buckets {
		if err := f.adopt(b); err != nil {
			return nil, fmt.Errorf("bucket %d: %w", b, err)
		}
	}
	for level := 1; level < levels; level++ {
		if !f.pools[level].clean() {
			return nil, fmt.Errorf("level %d: %w", level+1, errPointer)
		}
	}
	return f, f.checkKeys()
}

// adopt takes a bucket of a stored filter into account, and returns an error if following its chains could lead
// anywhere but to its own cells.
func (f *Filter) adopt(b uint64) error {
	if err := f.claim(b); err != nil {
		return err
	}
	u := f.bucket(b)
	used := u.used()
	if used > u.room() || u.n > 1 && used <= u.room()-u.parts[u.n-1].room {
		return errIndex
	}
	// The bits of the index behind the last cell in use must be 0; then each bit that is set has its cell.
	at := f.chains + used
	for i := range u.n {
		p := &u.parts[i]
		if at < p.bits && bitvec.Ones(p.words, p.index+at, p.bits-at) != 0 {
			return errIndex
		}
		at -= min(at, p.bits)
	}
	// And each cell is one of a chain.
	reached := u.rank(f.chains)
	for c := uint64(0); c < reached && reached <= used; c++ {
		if u.bit(f.chains + c) {
			reached++
		}
	}
	if reached != used {
		return errIndex
	}
	f.used += used
	return nil
}

// claim takes the extensions of a bucket out of their pools.
func (f *Filter) claim(b uint64) error {
	words, at := f.table, 64*b*f.words+f.span
	for level := 1; level < levels && f.g.Pools[level] > 0; level++ {
		to := bitvec.Field(words, at, uint(f.g.pointer(level)))
		if to == 0 {
			return nil
		}
		p := f.pools[level]
		if !p.claim(to - 1) {
			return errPointer
		}
		words, at = p.words, (to-1)*p.stride
	}
	return nil
}

// checkKeys holds the number of keys against the cells.
func (f *Filter) checkKeys() error {
	sum := f.used
	if f.g.Counting {
		sum = 0
		for b := range f.buckets {
			u := f.bucket(b)
			for c := range u.used() {
				sum += f.counts(u.cell(c))
			}
		}
	}
	if sum != f.keys {
		return errKeys
	}
	return nil
}
