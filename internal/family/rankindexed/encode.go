package rankindexed

import (
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

var (
	errIndex   = errors.New("the index of a bucket does not match its cells")
	errOrder   = errors.New("the cells of a chain are not in the order of their remainders")
	errUnused  = errors.New("bits behind the last cell of a bucket or extension are set")
	errPointer = errors.New("an extension does not exist, belongs to two buckets, or is free but not empty")
	errKeys    = errors.New("the number of keys does not match the cells")
)

// Spec returns the Spec that fixes the geometry.
func (g Geometry) Spec() filter.Spec {
	s := family.NewSpec(Family, "buckets", g.Buckets, "capacity", g.Capacity, "cells", g.Cells[0], "chains", g.Chains,
		"remainder", g.Remainder)
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

// Encode returns three sections: the buckets, the second-level extensions, and the third-level ones. Each bucket and
// extension is a whole number of words. Bits count from the lowest bit of the first word. The fields of a bucket are
//
//	chains bits           base index: has chain l a cell?
//	cells bits            higher index: has the chain of cell c a next cell?
//	pointer               number of its second-level extension + 1, or 0 without one
//	cells × width bits    remainder in the high bits; counter - 1, or value, in the low bits
//
// The fields of an extension are pointer, higher index and cells, which continue the index and cells of the bucket. A
// pointer has the bit length of the number of extensions, plus Growth bits. All unused bits are 0.
func (f *Filter) Encode() family.Encoded {
	sections := [][]uint64{f.table, f.pools[1].words, f.pools[2].words}
	return family.Encoded{Spec: f.g.Spec(), Keys: f.keys, Sections: sections}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec, or an error wrapping
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	g, cells, trimmed, err := storedGeometry(s)
	switch {
	case err != nil:
		return nil, err
	case trimmed:
		return []uint64{g.trimmedWords(cells)}, nil
	}
	return g.sections(), nil
}

// storedGeometry reads the canonical Spec of a filter, or of a trimmed filter and its number of cells. It returns an
// error for any other Spec.
func storedGeometry(s filter.Spec) (g Geometry, cells uint64, trimmed bool, err error) {
	if trimmed = family.Given(s, "trimmed"); trimmed {
		cells = family.Reader(s).Uint("trimmed")
		if s.With("trimmed", cells) != s { // one text per number, so that equal filters have equal files
			text, _ := s.Param("trimmed")
			return g, 0, false, family.Invalid("trimmed", text, "want a whole number of 0 or more")
		}
		s = family.Without(s, "trimmed")
	}

	c, err := ConfigFromSpec(s, 0)
	if err != nil {
		return g, 0, false, err
	}

	if c.Geometry == nil || c.Geometry.Spec() != s {
		return g, 0, false, family.Invalid("spec", s, "want the complete geometry of a filter")
	}

	if trimmed && (cells > maxKeys || cells > c.Geometry.allCells()) { // maxKeys keeps trimmedWords below 2^64
		return g, 0, false, family.Invalid("trimmed", cells, "more cells than the filter has")
	}
	return *c.Geometry, cells, trimmed, nil
}

// Decode returns the filter that Encode of a Filter or a Trimmed has stored. It keeps the words of a Filter, without a
// copy. It checks the sizes of the sections, that each chain stays in the cells of its own bucket and is in order, that
// no two buckets share an extension, that all unused bits are 0, and the number of keys.
func Decode(e family.Encoded) (*Filter, error) {
	if err := e.CheckSections(SectionWords(e.Spec)); err != nil {
		return nil, err
	}

	g, cells, trimmed, err := storedGeometry(e.Spec)
	if err != nil {
		return nil, err
	}

	if trimmed {
		return g.untrim(e, cells)
	}

	f := filterOver(g, [levels][]uint64(e.Sections))
	f.keys = e.Keys
	for b := range f.buckets {
		if err := f.adoptBucket(b); err != nil {
			return nil, fmt.Errorf("bucket %d: %w", b, err)
		}
	}

	for level := 1; level < levels; level++ {
		if !f.pools[level].freeRecordsAreZero() {
			return nil, fmt.Errorf("level %d: %w", level+1, errPointer)
		}
	}
	return f, f.checkKeys()
}

// adoptBucket counts the cells of a bucket of a stored filter and marks its extensions as taken. It returns an error if
// a chain could lead out of the bucket's cells, a cell is in no chain, a chain is not in order, or an unused bit is
// set.
func (f *Filter) adoptBucket(b uint64) error {
	if err := f.claimExtensions(b); err != nil {
		return err
	}

	u := f.bucket(b)
	used := u.usedCells()
	// An extension that no cell needs would not be in the filter that the same keys make.
	if used > u.allCells() || u.n > 1 && used <= u.allCells()-u.parts[u.n-1].room {
		return errIndex
	}

	if err := u.checkUnused(used); err != nil {
		return err
	}

	if err := u.checkChains(used); err != nil {
		return err
	}

	f.used += used
	return nil
}

// checkUnused returns an error unless all bits after the last cell in use are 0: in the index, so that each set bit has
// its cell, and after the cells, up to the end of the bucket and of each extension.
func (u *bucket) checkUnused(used uint64) error {
	at := u.f.chains + used
	for i := range u.n {
		p := &u.parts[i]
		if at < p.bits && bitvec.OnesIn(p.words, p.index+at, p.index+p.bits) != 0 {
			return errIndex
		}
		in := min(used, p.room)
		from, end := p.cells+in*uint64(u.f.width), 64*(p.index/64+u.f.g.levelWords(i))
		if bitvec.OnesIn(p.words, from, end) != 0 {
			return errUnused
		}
		at, used = at-min(at, p.bits), used-in
	}
	return nil
}

// checkChains returns an error unless each cell in use is in a chain and no cell has a smaller remainder than the one
// before it in its chain. The index must have as many set bits as cells are in use, and none after the last cell.
func (u *bucket) checkChains(used uint64) error {
	// The first cells of all chains come first, in the order of the chains. The next cell of cell c is the cell after
	// all cells whose bits precede the bit of c.
	f, own := u.f, &u.parts[0]
	reached := u.rankOf(f.chains)
	if u.n == 1 {
		return f.checkRow(own.words, own.index+f.chains, own.cells, reached, used)
	}

	for c := uint64(0); c < reached; c++ {
		if !u.indexBit(f.chains + c) {
			continue
		}
		if u.cellValue(reached)>>f.payload < u.cellValue(c)>>f.payload {
			return errOrder
		}
		reached++
	}

	if reached != used {
		return errIndex
	}
	return nil
}

// checkRow is checkChains for adjacent cells with adjacent bits of the higher index. The row begins with the first
// cells of the chains. It has no branches on bits of the index, which the processor would mispredict.
func (s *sizes) checkRow(words []uint64, higher, cells, first, used uint64) error {
	w, reached, falls := uint64(s.width), first, uint64(0)
	for c := uint64(0); reached < used; c++ {
		if c == reached { // no chain leads to this cell, so none leads beyond it
			return errIndex
		}
		this := bitvec.Field(words, cells+c*w, s.width) >> s.payload
		next := bitvec.Field(words, cells+reached*w, s.width) >> s.payload
		bit := bitvec.Bit(words, higher+c) & 1
		falls |= (next - this) >> 63 & bit // remainders have less than 63 bits: the sign tells which one is smaller
		reached += bit
	}

	if falls != 0 {
		return errOrder
	}
	return nil
}

// claimExtensions marks the extensions of a bucket as taken in their pools. It returns an error if an extension does
// not exist or another bucket has it.
func (f *arrays) claimExtensions(b uint64) error {
	words, at := f.table, 64*b*f.words+f.span
	for level := 1; level < levels && f.g.Pools[level] > 0; level++ {
		to := bitvec.Field(words, at, uint(f.g.pointerBits(level)))
		if to == 0 {
			return nil
		}
		p := f.pools[level]
		if !p.claimRecord(to - 1) {
			return errPointer
		}
		words, at = p.words, (to-1)*p.stride
	}
	return nil
}

// countKeys returns the number of additions that the cells of the bucket stand for.
func (u *bucket) countKeys() (n uint64) {
	used := u.usedCells()
	if !u.f.g.Counting {
		return used
	}
	for c := range used {
		n += u.f.counts(u.cellValue(c))
	}
	return n
}

// checkKeys returns an error unless the number of keys matches the cells.
func (f *Filter) checkKeys() error {
	sum := f.used
	if f.g.Counting {
		sum = 0
		for b := range f.buckets {
			u := f.bucket(b)
			sum += u.countKeys()
		}
	}

	if sum != f.keys {
		return errKeys
	}
	return nil
}
