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
// so that h is as large as the time of the search permits, n·h steps per pass. The domain is n, m, h >= 1; the rate is 1
// if no choices fit.
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

// ChoiceFloor returns a fill below which almost no filter is: of n keys with k random functions each in m bits, if there
// are 2^choices ways to choose the functions. The expected number of ways that set at most f·m bits is at most
//
//	2^(choices + m·H2(f)) · f^(kn)
//
// and ChoiceFloor returns the f at which this is 1. Below it the number falls exponentially with n, so that a large
// filter is not below it, whatever search it comes from. In other words, a rate f^k needs n·log2(1/f^k) bits: m·H2(f)
// in the bits and the others in the choices. The domain is n, m, k >= 1 and choices >= 0.
func ChoiceFloor(n, m, k int, choices float64) float64 {
	if n < 1 || m < 1 || k < 1 || !(choices >= 0) {
		return math.NaN()
	}
	throws := float64(n) * float64(k)
	low, high := 0.0, -math.Expm1(-throws/float64(m))
	for range 60 {
		f := (low + high) / 2
		if choices+float64(m)*Entropy(f)+throws*math.Log2(f) < 0 {
			low = f
		} else {
			high = f
		}
	}
	return high
}

// MostNormal returns the mean of the largest of t >= 1 independent standard normal numbers. It is about sqrt(2·ln t) for
// very large t, but 0.564 instead of 1.177 for t = 2.
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

// GroupFillNormal returns GroupFill for many groups whose new bits are normal numbers. The best of t tries of a group of
// b = n/g keys then sets bk(1-f) - a·sqrt(bk·f(1-f)) new bits, a = MostNormal(t). Over all groups this is
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
