// Package probe makes the positions of a key from its Hash, one after the other:
//
//	x0 = Lo, x1 = fold(x0 × (Hi with 1)), x2 = fold(x1 × (Hi with 1)), ...     position i = ⌊x_i·m / 2^64⌋
//
// fold is the exclusive or of the two halves of the 128-bit product. Lo is where the positions start and Hi how they go on;
// all bits of both take part from the second one on. TestIndependent in this package measures pairs of them.
package probe

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
)

// Mixer returns the odd number that mixes the probes of a key: Hi with its lowest bit set.
func Mixer(h filter.Hash) uint64 { return h.Hi | 1 }

// Mix returns the x of the next probe.
func Mix(x, by uint64) uint64 {
	h, l := bits.Mul64(x, by)
	return h ^ l
}

// Position maps x to [0, m).
func Position(x, m uint64) uint64 {
	at, _ := bits.Mul64(x, m)
	return at
}

// Remix derives 64 further bits from Lo alone, for families in which Hi chooses a block and nothing else: two
// multiplications with odd constants (the fractions of the golden ratio and of the square root of 2) and folds.
func Remix(lo, round uint64) uint64 {
	h, l := bits.Mul64(lo+round*0x9E3779B97F4A7C15, 0x6A09E667F3BCC909)
	h, l = bits.Mul64(h^l, 0x9E3779B97F4A7C15)
	return h ^ l
}
