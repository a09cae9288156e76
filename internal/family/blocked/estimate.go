package blocked

import (
	"math"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// EstimateKeys estimates the number of distinct keys n from the number of bits that are 0, of which m·q^n are expected,
// where q = exp(Cells().Free) is the probability that a key leaves a given bit 0. It returns +Inf if every bit is set.
// It reads the whole filter.
//
// Estimates block by block (Swamidass and Baldi, 2007, for each) are better by less than a tenth of a standard
// deviation, but biased, and useless if blocks are full.
func (f *Filter) EstimateKeys() float64 {
	c := f.Cells()
	ones := bitvec.OnesCount(f.words)
	if ones == 0 {
		return 0 // not -0
	}
	return math.Log1p(-float64(ones)/float64(c.Number)) / c.Free
}

// Cells describes the bits. A key chooses one of the blocks, and in it k bits independently in the line layout, or one
// bit of each word of 32 bits in the split layout. So there are pairs of a bit with itself, of bits in the same word
// (split), in the same block, and in different blocks, of which a key takes at most one.
func (f *Filter) Cells() family.Cells {
	blocks, bits := float64(f.blocks), float64(f.layout().BlockBits())
	m := blocks * bits
	free := math.Pow(1-1./lineBits, float64(f.k))     // a bit of the block of a key
	together := math.Pow(1-2./lineBits, float64(f.k)) // two of them
	if f.split {
		free, together = 31./32, 31./32*31/32
	}
	hit := (1 - free) / blocks
	// pair returns the pairs of which both are hit with that probability.
	pair := func(number, both float64) family.CellPair {
		return family.CellPair{Share: number / m, Both: math.Log1p((both - hit*hit) / ((1 - hit) * (1 - hit)))}
	}
	apart := (1 - 2*free + together) / blocks // two bits of a block
	pairs := []family.CellPair{pair(1, hit), pair(m-bits, 0)}
	if f.split {
		pairs = append(pairs, pair(31, 0), pair(bits-32, apart))
	} else {
		pairs = append(pairs, pair(bits-1, apart))
	}
	return family.Cells{Number: f.blocks * f.layout().BlockBits(), Free: math.Log1p(-hit), Pairs: pairs}
}

// Free returns the number of bits that are 0 in both filters. Errors are those of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) {
	return bitvec.Free(f, other, uint64(len(f.words))*64)
}
