// Package probe computes the positions of a key from its Hash, each from the previous one, by two kinds of sequences.
//
// The positions of standard, counting and twochoice cost one multiplication each:
//
//	x_0 = Lo, x_(i+1) = rotl(9·x_i, 25) + Hi     position i = ⌊x_i·m / 2^64⌋
//
// The positions of partitioned cost two:
//
//	x_0 = Lo, x_(i+1) = fold(x_i × (Hi with 1))     position i = ⌊x_i·m / 2^64⌋
//
// rotl rotates a word to the left; fold is the exclusive or of the two halves of the 128-bit product; "Hi with 1" is
// Hi with its lowest bit set.
//
// The factor 9 is needed. Without it, x_(i+5) has most of the bits of x_i moved by 3 places: 5·25 = 2·64 - 3. If two
// probes that are 5 steps apart then fall on the same probes of a present key, a third one often does as well. Filters
// of few keys with many probes would have more false positives: twice as many with 2 keys in 64 bits and k = 20. Seven
// other rotations fail as well. TestRates tests such filters, and TestIndependent tests pairs of positions.
package probe

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Next returns the x of the next probe of a key of standard or counting; hi is Hi of its hash, for twochoice a part of
// it. It is a permutation of x for each hi, and of hi for each x.
func Next(x, hi uint64) uint64 { return bits.RotateLeft64(9*x, 25) + hi }

// Positions sets at to the positions, below m, of the probes of a key of standard or counting from x on.
func Positions(at []uint64, x, hi, m uint64) {
	for i := range at {
		at[i] = Position(x, m)
		x = Next(x, hi)
	}
}

// Mixer returns the odd factor of the probes of a key of partitioned: Hi with its lowest bit set.
func Mixer(h filter.Hash) uint64 { return h.Hi | 1 }

// Mix returns the x of the next probe of such a key; by is the result of Mixer.
func Mix(x, by uint64) uint64 {
	h, l := bits.Mul64(x, by)
	return h ^ l
}

// Position returns ⌊x·m / 2^64⌋, which is in [0, m).
func Position(x, m uint64) uint64 {
	at, _ := bits.Mul64(x, m)
	return at
}

// Remix derives 64 further bits from Lo alone, for families that use Hi only to choose a block: two multiplications
// with odd constants (the fractions of the golden ratio and of the square root of 2), each followed by a fold.
func Remix(lo, round uint64) uint64 {
	h, l := bits.Mul64(lo+round*0x9E3779B97F4A7C15, 0x6A09E667F3BCC909)
	h, l = bits.Mul64(h^l, 0x9E3779B97F4A7C15)
	return h ^ l
}

const (
	// BatchSize is the number of keys of a group: enough cache misses to fill a core's queue (10 to 48), few enough
	// that the lines are still in the first-level cache when they are read.
	BatchSize = 32

	// InCache is a size in words: 2 MiB. Smaller filters are tested key by key, because groups cost more time than they
	// save if the filter is in the caches.
	InCache = 1 << 18
)

// HasMany calls has with all keys. In a filter of at least InCache words it divides the keys into groups of at most
// BatchSize and calls prefetch before has with each group, so that cache misses overlap. It panics if dst and hs differ
// in length.
func HasMany(
	words int, dst []bool, hs []filter.Hash, prefetch func(hs []filter.Hash), has func(dst []bool, hs []filter.Hash),
) {
	family.CheckBatch(dst, hs)
	for len(hs) > 0 {
		n := len(hs)
		if words >= InCache {
			n = min(n, BatchSize)
			prefetch(hs[:n])
		}
		has(dst[:n], hs[:n])
		dst, hs = dst[n:], hs[n:]
	}
}

// HasEach returns a function that sets dst[i] to f.Has(hs[i]) for every i. It needs one nanosecond per key more than a
// loop in the family; fast families have their own loop.
func HasEach(f family.Filter) func(dst []bool, hs []filter.Hash) {
	return func(dst []bool, hs []filter.Hash) {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
	}
}
