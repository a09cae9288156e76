package stat

import "math"

// UpperQuantile returns the least j with Pr[X > j] <= tail for a binomial X of n trials with probability p. If the
// standard deviation is above 3000, it returns the mean plus nine standard deviations, which is more.
func UpperQuantile(n uint64, p, tail float64) uint64 {
	mean := float64(n) * p
	spread := math.Sqrt(mean * (1 - p))
	if spread > 3e3 {
		return min(n, uint64(mean+9*spread)+1)
	}
	low, high := uint64(mean), min(n, uint64(mean+9*spread)+60)
	for low < high {
		if j := low + (high-low)/2; j >= n || !TailExceeds(j+1, n, p, tail) {
			high = j
		} else {
			low = j + 1
		}
	}
	return low
}
