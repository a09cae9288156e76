// Package stat holds the little statistics that rates need: means over a binomial number, exact intervals and tails.
package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// BinomialMean returns the mean of f(J) for J binomial with n trials of probability p, f in [0, 1]. It calls f with
// rising j only, and leaves out values of J whose probability together is below 1e-12 relative to all.
func BinomialMean(n uint64, p float64, f func(j uint64) float64) float64 {
	if p >= 1 {
		return f(n)
	}
	mean := float64(n) * p
	spread := 12*math.Sqrt(mean*(1-p)) + 60
	lo, hi := uint64(max(0, mean-spread)), min(n, uint64(mean+spread))
	logN, _ := math.Lgamma(float64(n) + 1)
	logP, logQ := math.Log(p), math.Log1p(-p)
	var sum, weight float64
	for j := lo; j <= hi; j++ {
		w := math.Exp(logN - lgamma(float64(j)+1) - lgamma(float64(n-j)+1) + float64(j)*logP + float64(n-j)*logQ)
		if n > 1<<40 { // the difference of two large lgamma loses digits: take the Poisson limit
			w = math.Exp(float64(j)*math.Log(mean) - mean - lgamma(float64(j)+1))
		}
		sum += w * f(j)
		weight += w
	}
	return sum / weight
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// Interval returns the exact two-sided interval (Clopper and Pearson, 1934) of a probability of which x of n trials came
// true, at the given level such as 0.95. Without trials it is (0, 1).
func Interval(x, n uint64, level float64) (low, high float64) {
	tail := (1 - level) / 2
	high = 1
	if x > 0 {
		low = mathext.InvRegIncBeta(float64(x), float64(n-x)+1, tail)
	}
	if x < n {
		high = mathext.InvRegIncBeta(float64(x)+1, float64(n-x), 1-tail)
	}
	return low, high
}

// UpperTail returns the probability that at least x of n trials of probability p come true.
func UpperTail(x, n uint64, p float64) float64 {
	switch {
	case x == 0 || p >= 1:
		return 1
	case x > n || p <= 0:
		return 0
	}
	return mathext.RegIncBeta(float64(x), float64(n-x)+1, p)
}
