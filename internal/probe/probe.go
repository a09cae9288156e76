// Package probe computes the positions of a key from its Hash, each from the previous one:
//
//	x0 = Lo, x1 = fold(x0 × (Hi with 1)), x2 = fold(x1 × (Hi with 1)), ...     position i = ⌊x_i·m / 2^64⌋
//
// fold is the exclusive or of the two halves of the 128-bit product, and "Hi with 1" is Hi with its lowest bit set.
// Lo is the start of the sequence and Hi its step; from the second position on, all bits of both take part.
// TestIndependent measures pairs of positions.
package probe

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
)

// Mixer returns the odd factor of the probes of a key: Hi with its lowest bit set.
func Mixer(h filter.Hash) uint64 { return h.Hi | 1 }

// Mix returns the x of the next probe; by is the result of Mixer.
func Mix(x, by uint64) uint64 {
	h, l := bits.Mul64(x, by)
	return h ^ l
}

// Position returns ⌊x·m / 2^64⌋, which is in [0, m).
func Position(x, m uint64) uint64 {
	at, _ := bits.Mul64(x, m)
	return at
}

// Remix derives 64 further bits from Lo alone, for families that use Hi only to choose a block. It takes two
// multiplications with odd constants (the fractions of the golden ratio and of the square root of 2) and folds.
func Remix(lo, round uint64) uint64 {
	h, l := bits.Mul64(lo+round*0x9E3779B97F4A7C15, 0x6A09E667F3BCC909)
	h, l = bits.Mul64(h^l, 0x9E3779B97F4A7C15)
	return h ^ l
}
