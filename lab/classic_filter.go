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

// positions returns position j of key i. It is asked for j = 0, 1, 2, ... of a key in this order, so that it may keep what the
// positions of a key have in common.
type positions func(i, j int) uint64

// observedBits sets k of m bits for each of the keys 0 to n-1 and asks for as many as absent further keys. It returns the share
// of bits that are set and the share of absent keys that are let through.
func observedBits(at positions, n, absent int, m uint64, k int) (fill, rate float64) {
	b := newBitmap(m)
	for i := range n {
		for j := range k {
			b.set(at(i, j))
		}
	}
	yes := 0
absent:
	for i := range absent {
		for j := range k {
			if !b.has(at(n+i, j)) {
				continue absent
			}
		}
		yes++
	}
	return b.fill(m), float64(yes) / float64(absent)
}
