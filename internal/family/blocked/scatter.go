package blocked

import (
	"math"

	"github.com/bloomery/bloomery/internal/stat"
)

// A size for a planned rate is firm if the predicted rate, plus sure standard deviations, is at most firm times the
// planned rate.
const (
	sure = 3
	firm = 1.01
)

// scatter returns the standard deviation of the posterior rate of a filter of n keys. The rate is the mean of the rates
// r of the blocks. For independent blocks its variance would be Var(r)/blocks. But the numbers of keys j of all blocks
// add up to n, so the part of r that is linear in j does not vary:
//
//	(Var(r) - Cov(r, j)² / Var(j)) / blocks
//
// The deviation is large at low rates, where a few blocks with far more keys than others cause most of the false
// positives. scatter returns 0 for loads that need more than stat.MostThrows, which have high rates.
func (c *formula) scatter(n, blocks uint64, k int, layout Layout) float64 {
	load := float64(n) / float64(blocks)
	rate, square := c.splitRate, func(j uint64) float64 { return valueAt(&c.splitSquares, j, splitSquare) }
	if layout != Split {
		if (load+12*math.Sqrt(load)+61)*float64(k) > stat.MostThrows {
			return 0
		}
		mean := c.predictFPR(n, blocks, k, layout) // sets counted
		first, second := c.moment(k, k), c.moment(k, 2*k)
		rate = func(j uint64) float64 {
			if j >= c.counted[k] {
				return mean // predictFPR has not used these rates, which do not matter
			}
			return valueAt(&c.rates[k], j, first)
		}
		square = func(j uint64) float64 { return valueAt(&c.squares[k], j, second) }
	}

	p := 1 / float64(blocks)
	mean := stat.BinomialMean(n, p, rate)
	product := stat.BinomialMean(n, p, func(j uint64) float64 { return float64(j) / float64(n) * rate(j) })
	cov := (product - mean*p) * float64(n)
	variance := stat.BinomialMean(n, p, square) - mean*mean
	if vary := load * (1 - p); vary > 0 {
		variance -= cov * cov / vary
	}
	return math.Sqrt(max(0, variance) * p)
}

// splitSquare returns E[r²] of a split block with j keys: the eighth power of E[(X/32)²], where X is the number of bits
// that are set in a word.
func splitSquare(j uint64) float64 {
	const bits = 32.
	one := math.Exp(float64(j) * math.Log1p(-1/bits)) // the probability that a bit is not set
	two := math.Exp(float64(j) * math.Log1p(-2/bits)) // that two are not set
	return math.Pow(max(0, 1-2*one+one/bits+two*(1-1/bits)), splitK)
}

// firmBlocks returns the smallest number of blocks, from least to 1.25·least + 1, with which the rate of nearly every
// filter is at most firm times p. It may return a number that is 0.1% larger. If no such number exists, it returns
// least. See scatter.
func (c Config) firmBlocks(x *formula, n, least uint64, p float64) uint64 {
	kept := func(blocks uint64) bool {
		k := c.probes(x, n, blocks)
		return x.predictFPR(n, blocks, k, c.Layout)+sure*x.scatter(n, blocks, k, c.Layout) <= firm*p
	}

	most := least + least/4 + 1
	if kept(least) || !kept(most) {
		return least
	}
	return leastKept(least, most, kept)
}

// leastKept returns a number from lo to hi for which kept is true, at most 0.1% above the smallest one. kept must be
// false for lo and true for hi, and change once in between.
func leastKept(lo, hi uint64, kept func(blocks uint64) bool) uint64 {
	for hi-lo > 1+hi/1000 {
		if mid := lo + (hi-lo)/2; kept(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
