// Package stat holds the little statistics that rates need: means over a binomial number, exact intervals and tails.
package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// BinomialMean returns the mean of f(J) for J binomial with n trials of probability p, f smooth and in [0, 1]. It calls f
// with rising j only, at most some 8000 times whatever n is, and leaves out values of J more than 12 standard deviations
// from the mean.
func BinomialMean(n uint64, p float64, f func(j uint64) float64) float64 {
	if p >= 1 || n == 0 {
		return f(n)
	}
	mean := float64(n) * p
	spread := 12*math.Sqrt(mean*(1-p)) + 60
	lo, hi := uint64(max(0, mean-spread)), n
	if top := mean + spread; top < float64(n) {
		hi = uint64(top)
	}
	// The probability of j up to a factor that does not depend on it. The difference of two large logarithms loses digits,
	// so many trials take the Poisson limit and a large mean the normal one.
	logP, logQ, logMean := math.Log(p), math.Log1p(-p), math.Log(mean)
	logWeight := func(j uint64) float64 {
		switch {
		case mean*(1-p) > 1e9:
			d := float64(j) - mean
			return -d * d / (2 * mean * (1 - p))
		case n > 1<<31 && p < 1e-4:
			return float64(j)*logMean - lgamma(float64(j)+1)
		}
		return float64(j)*logP + float64(n-j)*logQ - lgamma(float64(j)+1) - lgamma(float64(n-j)+1)
	}
	top := logWeight(min(uint64(mean), hi))
	var sum, weight float64
	step := (hi-lo)/8000 + 1
	for j := lo; ; j += step {
		w := math.Exp(logWeight(j) - top)
		if w > 0 {
			sum += w * f(j)
			weight += w
		}
		if hi-j < step {
			return sum / weight
		}
	}
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
