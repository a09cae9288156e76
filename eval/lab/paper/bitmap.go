package paper

import "math/bits"

// Bitmap is a Bloom filter without a hash function: callers give the positions. The filters of the product are in
// family.
type Bitmap []uint64

// NewBitmap returns m bits, all 0.
func NewBitmap(m uint64) Bitmap { return make(Bitmap, (m+63)/64) }

// Set sets the bits of a key.
func (b Bitmap) Set(at ...uint64) {
	for _, p := range at {
		b[p/64] |= 1 << (p % 64)
	}
}

// Has reports whether all bits of a key are set.
func (b Bitmap) Has(at ...uint64) bool {
	for _, p := range at {
		if b[p/64]>>(p%64)&1 == 0 {
			return false
		}
	}
	return true
}

// Fill returns the share of set bits among m, the number of bits of NewBitmap.
func (b Bitmap) Fill(m uint64) float64 {
	ones := 0
	for _, w := range b {
		ones += bits.OnesCount64(w)
	}
	return float64(ones) / float64(m)
}

// Positions returns position j of key i. For each key it must be called with j = 0, 1, 2, ... in this order, because it
// may keep state between these calls.
type Positions func(i, j int) uint64

// ObservedBits sets k of m bits for each of the keys 0 to n-1 and queries the absent keys n to n+absent-1. It returns
// the share of set bits and the share of false positives.
func ObservedBits(at Positions, n, absent int, m uint64, k int) (fill, rate float64) {
	b := NewBitmap(m)
	for i := range n {
		for j := range k {
			b.Set(at(i, j))
		}
	}
	yes := 0
absent:
	for i := range absent {
		for j := range k {
			if !b.Has(at(n+i, j)) {
				continue absent
			}
		}
		yes++
	}
	return b.Fill(m), float64(yes) / float64(absent)
}
