package paper

import "math"

// The functions of this file go beyond Hao, Kodialam and Lakshman (2007): they answer questions that the paper leaves.

// GreedyFill returns the expected fill after Greedy. Each choice of a group is the best of all functions or the second
// best, and so on, so that choice i is as good as the best of t_i = 0.625·h/(i - 0.375) functions (Blom's approximation
// of the order statistics of normal numbers, 1958):
//
//	f = 1 - (1 - f_g)^(1 - g/n),  f_0 = 0,  f_j = f_{j-1} + (1/m) Σ_{i=1}^k E[fewest new bits of n/g throws, t_i tries]
//
// f_g is the fill after the first choice. Its recurrence is too high by 0% to 3%: functions that are chosen together
// hit the same new bits. The exponent is fitted: later passes save about the share g/n of the throws that set bits.
// At 8 bits per key, h of 64 to 16384, k of 5 to 7 and 20 to 100 keys in a group, f is within 3% of the search. The
// domain is n >= 0 and m, k, g, h >= 1.
func GreedyFill(n, m, k, g, h int) float64 {
	if n < 0 || m < 1 || k < 1 || g < 1 || h < 1 {
		return math.NaN()
	}
	size, groups := float64(n)/float64(g), min(g, 64)
	bits := float64(m) * float64(groups) / float64(g) // fewer groups in fewer bits give the same fill
	first := climb(groups, func(f float64) (up float64) {
		for i := range k {
			up += fresh(bits, f, size, max(1, 0.625*float64(h)/(float64(i)+0.625))) / bits
		}
		return up
	})
	return -math.Expm1(math.Log1p(-first) * max(0, 1-1/size))
}

// ChooseGreedy returns the number of groups g and of functions k of the filter of n keys in m bits, choices included,
// for which GreedyFill predicts the lowest rate with h functions to choose from, and this rate. The rate falls with h,
// so that h is as large as the time of the search permits, n·h steps per pass. The domain is n, m, h >= 1; the rate is
// 1 if no choices fit.
func ChooseGreedy(n, m, h int) (g, k int, rate float64) {
	forecast := func(g, k int) float64 {
		bits := GreedyBits(uint64(m), max(g, 1), max(k, 1), h)
		if g < 1 || g > n || k < 1 || k > h || bits < uint64(max(2, m/8)) {
			return 1
		}
		return math.Pow(GreedyFill(n, int(bits), k, g, h), float64(k))
	}
	g, k = max(1, n/40), max(1, int(0.75*float64(m)/float64(n)))
	rate = forecast(g, k)
	for better := true; better; {
		better = false
		for _, next := range [][2]int{{g, k + 1}, {g, k - 1}, {g + 1 + g/20, k}, {g - 1 - g/20, k}} {
			if p := forecast(next[0], next[1]); p < rate {
				g, k, rate, better = next[0], next[1], p, true
			}
		}
	}
	return g, k, rate
}

// ChoiceFloor returns a fill that at least half of all filters of n keys, with k random functions each, in m bits, are
// not below whatever search they come from, if there are 2^choices ways to choose the functions. With y = f·m and
// throws = kn it is the smallest f at which the bound
//
//	m · 2^choices · C(m, y) · throws!·(e^r - 1)^y / (r·m)^throws,  r / (1 - e^-r) = throws / y
//
// on the expected number of ways that set at most y bits reaches 1/2. C(m, y)·y!·S(throws, y) of m^throws outcomes set
// exactly y bits, where S is a Stirling number of the second kind, and r is the saddle point of its generating
// function. For large filters the fraction of exceptions falls exponentially. The domain is n, m, k >= 1 and choices >=
// 0.
func ChoiceFloor(n, m, k int, choices float64) float64 {
	if n < 1 || m < 1 || k < 1 || !(choices >= 0) {
		return math.NaN()
	}
	throws, bits := float64(n)*float64(k), float64(m)
	gamma := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
	ways := func(y float64) float64 { // the logarithm of the bound
		low, high := 0.0, throws/y // r/(1-e^-r) is between r and r + 1
		for range 60 {
			if r := (low + high) / 2; r < -math.Expm1(-r)*throws/y {
				low = r
			} else {
				high = r
			}
		}
		return math.Log(bits) + choices*math.Ln2 + gamma(bits) - gamma(y) - gamma(bits-y) + gamma(throws) +
			y*math.Log(math.Expm1(high)) - throws*math.Log(high*bits)
	}
	low, high := 0.0, -math.Expm1(throws*math.Log1p(-1/bits))
	for range 60 {
		if f := (low + high) / 2; ways(f*bits) < -math.Ln2 {
			low = f
		} else {
			high = f
		}
	}
	return high
}

// MostNormal returns the mean of the largest of t >= 1 independent standard normal numbers. It is about sqrt(2·ln t)
// for very large t, but 0.564 instead of 1.177 for t = 2.
func MostNormal(t float64) (mean float64) {
	const step = 1. / 64
	for x := -9 + step/2; x < 12; x += step { // the sum of Pr[largest > x] above 0, less Pr[largest <= x] below
		if all := t * math.Log(math.Erfc(-x/math.Sqrt2)/2); x > 0 {
			mean -= step * math.Expm1(all)
		} else {
			mean -= step * math.Exp(all)
		}
	}
	return mean
}

// GroupFillNormal returns GroupFill for many groups whose new bits are normal numbers. The best of t tries of a group
// of b = n/g keys then sets bk(1-f) - a·sqrt(bk·f(1-f)) new bits, a = MostNormal(t). Over all groups this is
//
//	df/dx = (kn/m)(1-f) - sqrt(paths)·sqrt(kn·f(1-f))/m,  x from 0 to 1,  paths = g·a²
//
// so that g and t matter only through paths. The domain is n >= 0, m, k >= 1 and paths >= 0.
func GroupFillNormal(n, m, k int, paths float64) float64 {
	if n < 0 || m < 1 || k < 1 || !(paths >= 0) {
		return math.NaN()
	}
	throws := float64(n) * float64(k)
	const steps = 4096
	f := 0.0
	for range steps {
		up := throws*(1-f) - math.Sqrt(paths*throws*f*(1-f))
		f += max(0, up) / float64(m) / steps
	}
	return f
}
