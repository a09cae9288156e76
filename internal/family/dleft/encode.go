package dleft

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// maxBuckets keeps the bits of a filter below 2^62.
const maxBuckets = 1 << 50

func (g geometry) spec() filter.Spec {
	s := family.NewSpec(Family, "buckets", g.buckets, "capacity", g.capacity, "remainder", g.remainder)
	if g.counter > 0 {
		s = s.With("counting", 1)
	}
	return s
}

// words returns the number of words of the section: the buckets and at least 64 bits behind them, which a load may
// read.
func (g geometry) words() uint64 { return (g.cells()*g.width()+63)/64 + 1 }

// Encode returns one section: the buckets of the four subtables in order, remainder+counter bytes each, then zeros.
// Byte j of a bucket has bit j of its eight cells, that of cell c in bit c. Byte i of the section is bits 8·(i mod 8)
// and up of word ⌊i/8⌋. The bits of a cell from remainder on are the number of its copies less 1. An empty cell is 0.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	g, err := geometryFromSpec(s)
	return g.sections(), err
}

// sections returns the number of words of each section.
func (g geometry) sections() []uint64 { return []uint64{g.words()} }

// Decode makes a filter from its stored form, as Encode returns it. The filter shares the words. Decode returns an
// error if the section does not have the size of SectionWords, if bits behind the last bucket are set, if the number of
// copies in all cells is not the number of keys, or if an empty cell counts copies.
func Decode(e family.Encoded) (*Filter, error) {
	g, err := geometryFromSpec(e.Spec)
	if err := e.CheckSections(g.sections(), err); err != nil {
		return nil, err
	}
	f := (&Filter{geometry: g, words: e.Sections[0], keys: e.Keys}).hold()
	last := g.cells() * g.width()
	if f.words[last/64]>>(last%64) != 0 || f.words[len(f.words)-1] != 0 {
		return nil, fmt.Errorf("bits behind the last bucket, from bit %d on, are set", last)
	}
	if _, all := f.count(); all != e.Keys {
		return nil, fmt.Errorf("the cells hold %d keys, want %d", all, e.Keys)
	}
	if i, ok := f.ghost(); ok {
		return nil, fmt.Errorf("an empty cell of bucket %d counts copies", i)
	}
	return f, nil
}

// ghost returns the number of a bucket that has an empty cell with a counter above 0, if there is one.
func (f *Filter) ghost() (bucket uint64, ok bool) {
	for i := range subtables * f.buckets {
		at := i * f.width() * 8
		for j := range f.counter {
			if f.match(at, 0)&f.slice(at, f.remainder+j) != 0 {
				return i, true
			}
		}
	}
	return 0, false
}

// geometryFromSpec reads the Spec of a built filter, dleft(buckets=,capacity=,remainder=), with or without counting=1.
// Other Specs are errors.
func geometryFromSpec(s filter.Spec) (geometry, error) {
	c, err := ConfigFromSpec(s, 0)
	if err != nil {
		return geometry{}, err
	}
	if c.Buckets == 0 || c.Capacity == 0 || c.Remainder == 0 || !c.Size.IsZero() {
		return geometry{}, family.Invalid("spec", s, "want dleft(buckets=,capacity=,remainder=)")
	}
	g, err := c.fixed()
	if err == nil && g.spec() != s {
		err = family.Invalid("spec", s, "want %s", g.spec())
	}
	return g, err
}
