package blockpartitioned

import (
	"math/bits"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/stat"
)

// prior returns p_b, the rate before the search: that of n keys whose shifts are random. It is the mean over the number of
// keys in a block, which is binomial, of the rate of a block with so many keys; see the blocked family. Keys that are added
// late move the rate towards it. Config.Forecast says what to expect of a search.
func (g geometry) prior(n uint64) float64 {
	return stat.BinomialMean(n, 1/float64(g.blocks), stat.Occupancy(int(g.payload()), g.k))
}

// census returns the number of set bits and p_a. An absent key is of a random block and has random base positions, which
// any shift takes to a random bit. So p_a is the mean over the blocks of (x/bits)^k, x bits of a payload being set.
func (f *Filter) census() (ones uint64, rate float64) {
	pow := stat.Powers(int(f.bits), f.k)
	var sum float64
	for b := range f.blocks {
		n := f.ones(b)
		ones += uint64(n)
		sum += pow[n]
	}
	return ones, sum / float64(f.blocks)
}

// ones returns the number of set bits of a block's payload.
func (f *Filter) ones(block uint64) (n int) {
	from := (block*f.block + f.first) / 32
	for i := range f.bits / 32 {
		n += bits.OnesCount32(bitvec.Word32(f.words, from+i))
	}
	return n
}
