package blockpartitioned

import (
	"math"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/stat"
)

// prior returns p_b, the rate before the search: the rate of n keys with random shifts. It is the mean rate of a block
// over the number of its keys, which is binomial; see family blocked. Late keys move the rate towards p_b.
// Config.Forecast predicts the rate after a search.
func (g geometry) prior(n uint64) float64 {
	return stat.BinomialMean(n, 1/float64(g.blocks), stat.Occupancy(int(g.payload()), g.k))
}

// census returns the number of set bits and p_a. An absent key has a random block and random base positions, from which
// any shift leads to a random bit. So p_a is the mean over the blocks of (x/bits)^k, x the set bits of the payload.
func (f *Filter) census() (ones uint64, rate float64) {
	pow := stat.Powers(int(f.bits), f.k)
	var sum float64
	for b := range f.blocks {
		n := f.ones(b)
		ones += n
		sum += pow[n]
	}
	return ones, sum / float64(f.blocks)
}

// after returns the posterior rate to expect after that many more keys with the present shifts. The number of late keys
// in a block is Poisson, and each leaves an empty bit empty with probability (1-1/bits)^k.
func (f *Filter) after(keys float64) float64 {
	perBlock := keys / float64(f.blocks)
	if perBlock == 0 {
		_, p := f.census()
		return p
	}

	// Average over the number of keys that a block gets, which is Poisson.
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
func (f *Filter) ones(block uint64) uint64 {
	return bitvec.OnesIn(f.words, block*f.block+f.first, (block+1)*f.block)
}
