package blocked

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/kernel"
)

// View answers queries of a stored filter from the bytes of its section, little endian as in files, at any address,
// without a copy or an allocation. A View is safe for concurrent use. The zero View is not usable.
type View struct {
	query  *kernel.Blocks // without words
	blocks uint64
	shift  uint8 // a block has 1<<shift bytes
}

// ViewOf returns the View of a filter with the Spec of a built filter. It returns the errors of SectionWords.
func ViewOf(s filter.Spec) (View, error) {
	f, err := geometry(s)
	if err != nil {
		return View{}, err
	}
	v, _ := NewView(f.layout(), f.k)
	v.blocks = f.blocks
	return v, nil
}

// NewView returns the View of a filter without blocks; Resize sets their number. It returns false if no filter has this
// layout and number of probes.
func NewView(layout Layout, k int) (View, bool) {
	switch {
	case layout == Line && k >= 1 && k <= MaxK:
		query := kernel.NewLine(nil, k)
		return View{query: &query, shift: 6}, true
	case layout == Split && k == splitK:
		query := kernel.NewSplit(nil)
		return View{query: &query, shift: 5}, true
	}
	return View{}, false
}

// Resize returns the View of a filter with as many blocks of the same layout as section has.
func (v View) Resize(section []byte) View {
	v.blocks = uint64(len(section)) >> v.shift
	return v
}

// Bytes returns the number of bytes of the section.
func (v View) Bytes() uint64 { return v.blocks << v.shift }

// Block returns the position of a key's block in the section: the offset of its first byte and its length. The filter
// must have blocks.
func (v View) Block(h filter.Hash) (offset uint64, length int) {
	block, _ := bits.Mul64(h.Hi, v.blocks)
	return block << v.shift, 1 << v.shift
}

// Has reports whether the key may be in the set. It panics if section has fewer than Bytes bytes, or has none.
func (v View) Has(section []byte, h filter.Hash) bool {
	offset, length := v.Block(h)
	return v.HasBlock(section[offset:][:length], h)
}

// HasBlock reports whether the key may be in the set. block has the bytes at Block(h). It panics if block is shorter.
func (v View) HasBlock(block []byte, h filter.Hash) bool { return v.query.HasIn(block, h.Lo) }
