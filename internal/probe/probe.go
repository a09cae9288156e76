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
