package fuse

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// empty is the filter of 0 keys, with segments=0 in its Spec. No query reads its slots: they would equal the
// fingerprints of some keys. It is a type of its own, so that queries of a Filter need no test for it.
type empty struct {
	family.Encoded
	width uint
}

// emptySlots is the number of its slots: two segments of one slot.
const emptySlots = 2

func newEmpty(width uint) *empty {
	s := family.NewSpec(Family, "seed", 0, "segment", 1, "segments", 0, "width", width)
	words := make([]uint64, bitvec.PackedWords(emptySlots, width))
	return &empty{family.Encoded{Spec: s, Sections: [][]uint64{words}}, width}
}

// Has returns false.
func (f *empty) Has(filter.Hash) bool { return false }

// HasMany sets dst to false. It panics if dst and hs differ in length.
func (f *empty) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	clear(dst)
}

// Encode is Filter.Encode.
func (f *empty) Encode() family.Encoded { return f.Encoded }

// Info describes the filter.
func (f *empty) Info() filter.Info {
	return filter.Info{Spec: f.Spec, Bits: emptySlots * uint64(f.width), FPRPrior: FPR(f.width)}
}
