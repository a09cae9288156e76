package blockpartitioned

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/kernel"
)

// View answers queries of a stored filter from the bytes of its first section, little endian as in files, at any
// address, without a copy or an allocation. A View is safe for concurrent use. The zero View is not usable.
type View struct {
	*layout
	blocks uint64
}

// layout is the part of the geometry of a block that queries need.
type layout struct {
	blockGeometry
	query *kernel.Slots // without words
}

// ViewOf returns the View of a filter with the Spec of a built filter. It returns the errors of SectionWords.
func ViewOf(s filter.Spec) (View, error) {
	g, err := geometryFromSpec(s)
	if err != nil {
		return View{}, err
	}
	return View{newLayout(g.blockGeometry), g.blocks}, nil
}

// NewView returns the View of a filter without blocks; Resize sets their number. It returns false if no filter has this
// geometry: blocks of block bits, 512 or 1024, that start with groups of k shifts of width bits.
func NewView(block, groups uint64, k, width int) (View, bool) {
	s := blockGeometry{block: block, groups: groups, k: k, width: width}
	if !s.valid() {
		return View{}, false
	}
	return View{newLayout(s), 0}, true
}

func newLayout(s blockGeometry) *layout {
	return &layout{s, kernel.NewSlots(nil, s.block, s.groups, s.payload(), s.k, s.width)}
}

// Resize returns the View of a filter with blocks of the same geometry, as many as section has.
func (v View) Resize(section []byte) View {
	v.blocks = uint64(len(section)) >> 6 >> (v.block >> 10) // a division takes as long as a query
	return v
}

// Bytes returns the number of bytes of the section.
func (v View) Bytes() uint64 { return v.blocks * (v.block / 8) }

// Block returns the position of a key's block in the section: the offset of its first byte and its length. The filter
// must have blocks.
func (v View) Block(h filter.Hash) (offset uint64, length int) {
	block, _ := bits.Mul64(h.Hi, v.blocks)
	return block * (v.block / 8), int(v.block / 8)
}

// Has reports whether the key may be in the set. It panics if section has fewer than Bytes bytes, or has none.
func (v View) Has(section []byte, h filter.Hash) bool {
	offset, length := v.Block(h)
	return v.HasBlock(section[offset:][:length], h)
}

// HasBlock reports whether the key may be in the set. block has the bytes at Block(h). It panics if block is shorter.
func (v View) HasBlock(block []byte, h filter.Hash) bool {
	_, rest := bits.Mul64(h.Hi, v.blocks)
	return v.query.HasIn(block, rest, h.Lo)
}
