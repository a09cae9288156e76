package lab

import "math/bits"

// bitmap is a Bloom filter without a hash: whoever uses it brings the positions. It shows what a hashing of the documents
// does to the bits; the product's own filters are in family.
type bitmap []uint64

// newBitmap returns m bits that are 0.
func newBitmap(m uint64) bitmap { return make(bitmap, (m+63)/64) }

// set sets the bits of a key.
func (b bitmap) set(at ...uint64) {
	for _, p := range at {
		b[p/64] |= 1 << (p % 64)
	}
}

// has reports whether all the bits of a key are set.
func (b bitmap) has(at ...uint64) bool {
	for _, p := range at {
		if b[p/64]>>(p%64)&1 == 0 {
			return false
		}
	}
	return true
}

// fill returns the share of m bits that are set.
func (b bitmap) fill(m uint64) float64 {
	ones := 0
	for _, w := range b {
		ones += bits.OnesCount64(w)
	}
	return float64(ones) / float64(m)
}
