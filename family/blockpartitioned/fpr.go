package blockpartitioned

import (
	"math"
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

// after returns the posterior rate to expect once so many more keys have been added with the present shifts: a bit that is
// not set stays so with the probability that none of them takes it, the numbers of late keys in the blocks being Poisson.
func (f *Filter) after(keys float64) float64 {
	perBlock := keys / float64(f.blocks)
	if perBlock == 0 {
		_, p := f.census()
		return p
	}
	// The mean over the number of keys that a block gets, by the weights of the Poisson distribution around it.
	spread := 6*math.Sqrt(perBlock) + 6
	var weights []float64
	from := math.Floor(max(0, perBlock-spread))
	for j := from; j <= perBlock+spread; j++ {
		g, _ := math.Lgamma(j + 1)
		weights = append(weights, math.Exp(j*math.Log(perBlock)-perBlock-g))
	}
	rates := make([]float64, f.bits+1)
	for x := range rates {
		for i, w := range weights {
			empty := (1 - float64(x)/float64(f.bits)) * math.Exp((from+float64(i))*float64(f.k)*math.Log1p(-1/float64(f.bits)))
			rates[x] += w * math.Pow(1-empty, float64(f.k))
		}
	}
	var sum float64
	for b := range f.blocks {
		sum += rates[f.ones(b)]
	}
	return min(1, sum/float64(f.blocks))
}

// ones returns the number of set bits of a block's payload.
func (f *Filter) ones(block uint64) (n int) {
	from := (block*f.block + f.first) / 32
	for i := range f.bits / 32 {
		n += bits.OnesCount32(bitvec.Word32(f.words, from+i))
	}
	return n
}
