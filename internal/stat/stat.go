// Package stat computes the statistics for false-positive rates: means over a binomial number, exact confidence
// intervals and tails of distributions. Percent prints rates. It imports the standard library only.
package stat

import "math"

// BinomialMean returns the mean of f(J), where J is binomial with n trials of probability p and f is smooth and in
// [0, 1]. It calls f with increasing j, at most about 8000 times for any n, and ignores values of J more than 12
// standard deviations plus 60 from the mean.
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

	// The logarithm of the probability of j, up to a constant. The difference of two large logarithms loses digits, so
	// large n use the Poisson limit and large variances the normal limit.
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
	if hi-lo < 8000 {
		return nearMean(n, p, uint64(mean), lo, hi, f)
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

// nearMean is BinomialMean over [lo, hi]. It computes each weight from the previous one and ignores values above mean
// whose share in the result is below 1e-16.
func nearMean(n uint64, p float64, mean, lo, hi uint64, f func(j uint64) float64) float64 {
	odds := p / (1 - p)
	weights := make([]float64, mean-lo+1) // of lo to mean, divided by the weight of mean
	weights[mean-lo] = 1
	for j := mean; j > lo; j-- {
		weights[j-lo-1] = weights[j-lo] * (float64(j) / float64(n-j+1) / odds)
	}

	var sum, weight, last float64
	for i, w := range weights {
		if w > 0 {
			sum += float64(w * f(lo+uint64(i)))
			weight += w
		}
	}

	last = 1
	for j := mean; j < hi && last > 1e-17*sum; j++ { // f is at most 1, and each weight less than half of the one before
		last *= float64(n-j) / float64(j+1) * odds
		sum += float64(last * f(j+1))
		weight += last
	}
	return sum / weight
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// Interval returns the exact two-sided confidence interval (Clopper and Pearson, 1934) of a probability after x
// successes in n trials, at a level in [0, 1] such as 0.95. x is at most n. Without trials and at level 1 it is (0, 1).
// Each end, and its distance from 1, has a relative error below 1e-13 if x or n-x is at most 300, else below 1e-10 up
// to n = 10^12, and the rounding of a float64.
func Interval(x, n uint64, level float64) (low, high float64) {
	tail := (1 - level) / 2
	high = 1
	if x > 0 && tail > 0 {
		low = 1 / (1 + math.Exp(-betaQuantile(float64(x), float64(n-x)+1, tail)))
	}
	if x < n && tail > 0 {
		high = 1 / (1 + math.Exp(betaQuantile(float64(n-x), float64(x)+1, tail)))
	}
	return low, high
}

// normalFrom is the variance above which UpperTail uses the normal distribution.
const normalFrom = 1e12

// UpperTail returns the probability that at least x of n trials of probability p come true. Its relative error is below
// 1e-8; if x is below the mean, this holds for the other tail, 1 less the result. It adds at most about 9 standard
// deviations of terms. Above a variance of 10^12 it uses the normal distribution, with an error below 1e-6 (Berry and
// Esseen).
func UpperTail(x, n uint64, p float64) float64 {
	switch {
	case x == 0 || p >= 1:
		return 1
	case x > n || p <= 0:
		return 0
	}

	mean := float64(n) * p
	if v := mean * (1 - p); v > normalFrom {
		return math.Erfc((float64(x)-0.5-mean)/math.Sqrt(2*v)) / 2
	}
	if float64(x) > mean {
		return min(1, outward(x, n, p, 1-p, 1))
	}
	return max(0, 1-outward(n-x+1, n, 1-p, p, 1)) // fewer than x come true: more than n-x fail
}

// TailExceeds reports whether UpperTail(x, n, p) is above a limit in [0, 1). It adds terms only until the answer is
// certain.
func TailExceeds(x, n uint64, p, limit float64) bool {
	mean := float64(n) * p
	if x <= n && float64(x) > mean && mean > 0 && mean*(1-p) <= normalFrom {
		return outward(x, n, p, 1-p, limit) > limit
	}
	return UpperTail(x, n, p) > limit
}

// outward returns UpperTail for x > n·p, where each term is smaller than the one before. q is 1-p. It may stop when the
// sum exceeds most.
func outward(x, n uint64, p, q, most float64) float64 {
	sum, term := 0.0, binomial(x, n, p, q)
	for ; term > sum*1e-17 && sum <= most; x++ {
		sum += term
		term *= float64(n-x) / float64(x+1) * (p / q)
	}
	return sum
}

// binomial returns the probability that exactly x of n trials come true, 1 <= x <= n, by the formula of Loader ("Fast
// and accurate computation of binomial probabilities", 2000), which subtracts no large numbers from each other.
func binomial(x, n uint64, p, q float64) float64 {
	if x == n && p < 0.5 {
		return math.Pow(p, float64(n))
	}
	if x == n { // q is small and exact, p is rounded
		return math.Exp(float64(n) * math.Log1p(-q))
	}
	all, some, rest := float64(n), float64(x), float64(n-x)
	log := stirlingError(all) - stirlingError(some) - stirlingError(rest) - deviance(some, all*p) - deviance(rest, all*q)
	return math.Exp(log) * math.Sqrt(all/(2*math.Pi*some*rest))
}

// deviance returns x·ln(x/mean) + mean - x. x and mean are above 0.
func deviance(x, mean float64) float64 {
	d := (x - mean) / mean
	return mean * ((1+d)*math.Log1p(d) - d)
}

// stirlingError returns ln Γ(x+1) less Stirling's formula, ln(√(2πx)·(x/e)^x). x is above 0.
func stirlingError(x float64) float64 {
	if x < 16 {
		return lgamma(x+1) - (x+0.5)*math.Log(x) + x - math.Log(2*math.Pi)/2
	}
	y := x * x
	return (1./12 - (1./360-(1./1260-(1./1680-1./1188/y)/y)/y)/y) / x
}

// StudentErrors returns the half-width, in standard errors, of a confidence interval of the mean of n values, n at
// least 2, at a level in [0, 1): the (1+level)/2 quantile of Student's t distribution with n-1 degrees of freedom ν.
// Its square is ν·(1-x)/x, where x is the 1-level quantile of the beta distribution of ν/2 and 1/2 (Abramowitz and
// Stegun, 26.7.1 with 26.5.27).
func StudentErrors(n int, level float64) float64 {
	nu := float64(n - 1)
	if tail := 1 - level; tail > 0.5 {
		return math.Sqrt(nu * math.Exp(betaQuantile(0.5, nu/2, level)))
	}
	return math.Sqrt(nu * math.Exp(-betaQuantile(nu/2, 0.5, 1-level)))
}

// PoissonTail returns the probability that a Poisson variable with this mean is larger than k, with a relative error
// below 1e-10.
func PoissonTail(mean float64, k int) float64 {
	if mean <= 0 {
		return 0
	}

	term := func(x float64) float64 { return math.Exp(x*math.Log(mean) - mean - lgamma(x+1)) }
	if float64(k) < mean { // terms grow up to k: subtract their sum from 1
		sum, t := 0.0, term(float64(k))
		for x := float64(k); x >= 0 && t > sum*1e-17; x-- {
			sum += t
			t *= x / mean
		}
		return 1 - sum
	}

	sum, t := 0.0, term(float64(k)+1)
	for x := float64(k) + 1; t > sum*1e-17; x++ {
		sum += t
		t *= mean / (x + 1)
	}
	return sum
}

// UpperQuantile returns the smallest j with Pr[X > j] <= tail for a binomial X of n trials with probability p. If the
// standard deviation is above 3000, it returns an upper bound: the mean plus nine standard deviations.
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
