package stat

import "math"

// fullAfter is a number of throws, a bin, after which a bin is still empty with a probability below 1e-80. A file may claim
// any number of keys, so the chain must not follow it.
const fullAfter = 200

// Occupancy returns the function j -> E[(X/m)^k], where X is the number of m bins that are occupied after j·k throws. It
// must be called with j not falling. m is at least 1 and k at least 0. The chain of X is followed throw by throw; states
// less likely than 1e-20 are dropped, so that of 513 some 60 matter.
func Occupancy(m, k int) func(j uint64) float64 {
	pow := Powers(m, k)
	chain := make([]float64, m+2) // chain[x] is the probability that x bins are occupied, for x in [lo, hi]
	chain[0] = 1
	lo, hi := 0, 0
	var done uint64
	rate := pow[0]
	return func(j uint64) float64 {
		if rate > 1-1e-12 {
			return 1
		}
		if done == j {
			return rate
		}
		if k > 0 && j-done > uint64(fullAfter*m) {
			rate = 1
			return rate
		}
		for ; done < j; done++ {
			for range k {
				hi = min(hi+1, m)
				for x := hi; x > lo; x-- {
					chain[x] = chain[x]*(float64(x)/float64(m)) + chain[x-1]*(float64(m-x+1)/float64(m))
				}
				chain[lo] *= float64(lo) / float64(m)
				for lo < hi && chain[lo] < 1e-20 {
					chain[lo] = 0
					lo++
				}
				for hi > lo && chain[hi] < 1e-20 {
					chain[hi] = 0
					hi--
				}
			}
		}
		rate = 0
		for x := lo; x <= hi; x++ {
			rate += chain[x] * pow[x]
		}
		return rate
	}
}

// Powers returns (x/m)^k for x from 0 to m.
func Powers(m, k int) []float64 {
	pow := make([]float64, m+1)
	for x := range pow {
		pow[x] = math.Pow(float64(x)/float64(m), float64(k))
	}
	return pow
}
