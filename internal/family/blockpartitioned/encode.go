package blockpartitioned

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// Encode returns two sections that share the memory of the filter: the blocks one after the other, and two words that
// no query needs, the number of keys added after the search and of bits set at its end.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keys, Sections: [][]uint64{f.words, {f.late, f.searched}}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	g, err := geometryFromSpec(s)
	if err != nil {
		return nil, err
	}
	return g.sections(), nil
}

// sections returns the number of words of each section.
func (g geometry) sections() []uint64 { return []uint64{g.wordCount(), 2} }

// Decode makes a filter from the result of Encode and keeps its words. It returns an error if the sections do not have
// the sizes of SectionWords, bits between head and payload are set, or the counts contradict each other.
func Decode(e family.Encoded) (*Filter, error) {
	g, err := geometryFromSpec(e.Spec)
	if err := e.CheckSections(g.sections(), err); err != nil {
		return nil, err
	}

	f := newFilter(g, e.Sections[0], e.Keys)
	f.late, f.searched = e.Sections[1][0], e.Sections[1][1]
	if f.keys >= maxKeys*(1+maxLater) || f.late > f.keys || f.searched > g.blocks*g.payloadBits() {
		return nil, fmt.Errorf("%d keys of %d added late, %d bits of %d set by the search",
			f.late, f.keys, f.searched, g.blocks*g.payloadBits())
	}

	if b, ok := f.strayBlock(); ok {
		return nil, fmt.Errorf("bits between head and payload of block %d are set", b)
	}
	return f, nil
}

// strayBlock returns the number of the first block with a set bit between head and payload; ok is false without one.
func (f *Filter) strayBlock() (block uint64, ok bool) {
	head := f.groups * uint64(f.k*f.width)
	unused := f.first - head
	if unused == 0 {
		return 0, false
	}
	for b := range f.blocks {
		if bitvec.Field(f.words, b*f.block+head, uint(unused)) != 0 {
			return b, true
		}
	}
	return 0, false
}

func (g geometry) wordCount() uint64 { return g.blocks * (g.block / 64) }

// geometryFromSpec reads the Spec of a built filter. It returns an error for any other Spec.
func geometryFromSpec(s filter.Spec) (geometry, error) {
	r := family.Reader(s)
	block, blocks, groups, k, width := r.Uint("block"), r.Uint("blocks"), r.Uint("groups"), r.Uint("k"), r.Uint("width")
	if err := r.Err(); err != nil {
		return geometry{}, err
	}

	g := geometry{blockGeometry{block, groups, int(min(k, maxK+1)), int(min(width, maxWidth+1))}, blocks}
	if !g.isValid() || blocks < 1 {
		return geometry{}, family.Invalid("spec", s, "want blockpartitioned(block=512|1024,blocks=,groups=,k=,width=)")
	}

	if blocks >= maxBlocks {
		return geometry{}, fmt.Errorf("blocks=%d: %w", blocks, filter.ErrTooLarge)
	}
	return g, nil
}

// maxBlocks keeps the number of bits far below 2^64.
const maxBlocks = 1 << 52
