package blocked

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Bits is a filter in the line layout that does not count its keys. It is for callers that guard its blocks with locks
// of their own and clear some of them while others are in use. A call touches only the memory of its blocks: calls for
// different blocks may run at once. Within a block, Has may run at the same time as other calls of Has; Put and Clear
// need exclusive use.
type Bits struct{ f Filter }

// NewBits returns an empty array of that many blocks, at least 1, with k probes per key, 1 to MaxK. Errors wrap
// filter.ErrConfig or filter.ErrTooLarge.
func NewBits(blocks uint64, k int) (*Bits, error) {
	f, err := New(Config{Blocks: blocks, K: k})
	if err != nil {
		return nil, err
	}
	return &Bits{f: *f}, nil
}

// Has reports whether the key may be in its block, which is block ⌊Hi·blocks / 2^64⌋.
func (b *Bits) Has(h filter.Hash) bool { return b.f.query.Has(h.Hi, h.Lo) }

// Put sets the bits of a key in its block. It reports whether any of them was unset before.
func (b *Bits) Put(h filter.Hash) bool {
	if b.Has(h) {
		return false
	}
	b.f.set(b.f.words[b.f.block(h):][:bitvec.LineWords], h.Lo)
	return true
}

// Clear clears blocks [from, to).
func (b *Bits) Clear(from, to uint64) {
	clear(b.f.words[from*bitvec.LineWords : to*bitvec.LineWords])
}

// Bytes returns the size of the blocks in bytes.
func (b *Bits) Bytes() uint64 { return uint64(len(b.f.words)) * 8 }
