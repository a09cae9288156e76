package rankindexed

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// levels is the number of parts that a bucket may have: itself and two extensions.
const levels = 3

// Limits of a Geometry.
const (
	// maxChains is the largest number of chains of a bucket.
	maxChains = 1 << 14
	// MaxRemainder is the largest number of bits of a remainder, Growth included.
	MaxRemainder = 48
	// MaxValueBits is the largest number of bits of a value.
	MaxValueBits = 32
	// maxGrowth is the largest number of times that a filter can double.
	maxGrowth = 24

	maxBuckets = 1 << 48
	maxWords   = 1 << 54 // of one level, so that numbers of bits do not overflow
	maxCells   = 1 << 13 // of one level
)

// counterBits is the size of a counter, which counts from 1 to 4.
const counterBits = 2

// Geometry describes all sizes of a filter. The letters are from the paper.
type Geometry struct {
	Capacity  uint64         // n: the number of cells in use that the pools were sized for
	Buckets   uint64         // B
	Chains    int            // L: chains of a bucket
	Cells     [levels]int    // Z1, Z2, Z3: cells of a bucket, of a second-level and of a third-level extension
	Pools     [levels]uint64 // J2 and J3 at 1 and 2: numbers of extensions; 0 is not used
	Remainder int            // r: bits of a remainder, without the Growth bits
	Growth    int            // how often the filter can still double; each doubling shortens the remainder by a bit
	Counting  bool           // each cell has a counter
	ValueBits int            // bits of the value of each cell, 0 to MaxValueBits; 0 with Counting
}

// payloadBits returns the number of bits of a cell below its remainder.
func (g Geometry) payloadBits() int {
	if g.Counting {
		return counterBits
	}
	return g.ValueBits
}

// cellBits returns the number of bits of a cell.
func (g Geometry) cellBits() int { return g.Growth + g.Remainder + g.payloadBits() }

// pointerBits returns the number of bits of a pointer to an extension of level i, or 0 if the level has no extensions.
// The number stays the same when the filter and its pools double.
func (g Geometry) pointerBits(i int) int {
	if i >= levels || g.Pools[i] == 0 {
		return 0
	}
	return bits.Len64(g.Pools[i]) + g.Growth
}

// levelWords returns the number of 64-bit words of a bucket (level 0) or of an extension (levels 1 and 2).
func (g Geometry) levelWords(level int) uint64 {
	if g.Cells[level] == 0 {
		return 0
	}
	n := g.pointerBits(level+1) + g.Cells[level]*(1+g.cellBits())
	if level == 0 {
		n += g.Chains
	}
	return uint64(n+63) / 64
}

// sections returns the number of words of each of the three levels, the sections of Encode.
func (g Geometry) sections() []uint64 {
	return []uint64{g.Buckets * g.levelWords(0), g.Pools[1] * g.levelWords(1), g.Pools[2] * g.levelWords(2)}
}

// Bits returns the size of all arrays in bits.
func (g Geometry) Bits() uint64 {
	sum := uint64(0)
	for _, w := range g.sections() {
		sum += 64 * w
	}
	return sum
}

// validate returns an error wrapping filter.ErrConfig or filter.ErrTooLarge unless the geometry is valid.
func (g Geometry) validate() error {
	switch {
	case g.Buckets < 1:
		return family.Invalid("buckets", g.Buckets, "want at least one")
	case g.Buckets > maxBuckets:
		return fmt.Errorf("buckets=%d: %w", g.Buckets, filter.ErrTooLarge)
	case g.Chains < 1 || g.Chains > maxChains:
		return family.Invalid("chains", g.Chains, "want 1 to %d", maxChains)
	case g.Cells[0] < 1 || g.Cells[0] > maxCells:
		return family.Invalid("cells", g.Cells[0], "want 1 to %d", maxCells)
	case g.Growth > 0 && g.Growth <= maxGrowth && (g.Capacity == 0 || g.Capacity > maxKeys>>g.Growth):
		return family.Invalid("capacity", g.Capacity,
			"want 1 to %d with growth=%d", uint64(maxKeys)>>g.Growth, g.Growth)
	case g.Growth < 0 || g.Growth > maxGrowth:
		return family.Invalid("growth", g.Growth, "want 0 to %d", maxGrowth)
	case g.Remainder < 1 || g.Remainder+g.Growth > MaxRemainder:
		return family.Invalid("remainder", g.Remainder,
			"remainder and growth together: want 1 to %d bits", MaxRemainder)
	case g.ValueBits < 0 || g.ValueBits > MaxValueBits:
		return family.Invalid("value_bits", g.ValueBits, "want 0 to %d", MaxValueBits)
	case g.Counting && g.ValueBits > 0:
		return family.Invalid("value_bits", g.ValueBits, "a filter has counters or values, not both")
	case g.cellBits() > 63: // bitvec.Field reads at most 63 bits
		return family.Invalid("remainder", g.Remainder, "remainder and value have more than 63 bits")
	}

	for i := 1; i < levels; i++ {
		if g.Cells[i] < 0 || g.Cells[i] > maxCells || (g.Cells[i] == 0) != (g.Pools[i] == 0) {
			return family.Invalid(fmt.Sprintf("cells%d", i+1), g.Cells[i],
				"want 1 to %d, or 0 with an empty pool", maxCells)
		}
		if g.pointerBits(i) > 63 {
			return family.Invalid(fmt.Sprintf("pool%d", i+1), g.Pools[i],
				"pointers would have more than 63 bits, growth included")
		}
		if g.Pools[i] > maxBuckets || i > 1 && g.Pools[i] > g.Pools[i-1] {
			return family.Invalid(fmt.Sprintf("pool%d", i+1), g.Pools[i],
				"want at most %d, and at most the size of the pool before", uint64(maxBuckets))
		}
	}

	for i, n := range [levels]uint64{g.Buckets, g.Pools[1], g.Pools[2]} {
		// Later products of these numbers are computed without checks.
		if hi, lo := bits.Mul64(n, g.levelWords(i)); hi != 0 || lo > maxWords {
			return fmt.Errorf("%d buckets or extensions of %d words: %w", n, g.levelWords(i), filter.ErrTooLarge)
		}
	}
	return nil
}
