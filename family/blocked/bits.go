package blocked

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Bits is a line-layout filter that counts nothing, for callers that guard its blocks with locks of their own and empty
// some of them while others are in use. A call touches no memory but that of the blocks it is about, so that calls about
// different blocks may run at once; of calls about the same block all but Has need exclusive use.
type Bits struct{ f Filter }

// NewBits returns an empty array of that many blocks, 1 or more, with k probes a key, 1 to MaxK.
func NewBits(blocks uint64, k int) (*Bits, error) {
	f, err := New(Config{Blocks: blocks, K: k})
	if err != nil {
		return nil, err
	}
	return &Bits{f: *f}, nil
}

// Has reports whether the key may have been put into its block, which is block ⌊Hi·blocks / 2^64⌋.
func (b *Bits) Has(h filter.Hash) bool { return b.f.query.Has(h.Hi, h.Lo) }

// Put sets the bits of a key in its block. It reports whether any of them was not set before.
func (b *Bits) Put(h filter.Hash) bool {
	if b.Has(h) {
		return false
	}
	b.f.set(b.f.words[b.f.block(h):][:bitvec.LineWords], h.Lo)
	return true
}

// Clear empties blocks [from, to).
func (b *Bits) Clear(from, to uint64) {
	clear(b.f.words[from*bitvec.LineWords : to*bitvec.LineWords])
}

// Bytes returns the memory of the blocks.
func (b *Bits) Bytes() uint64 { return uint64(len(b.f.words)) * 8 }
