package twochoice

import (
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// FPR returns the false positive probability 1 - (1-f^k)^c of a filter with fill f in [0, 1], k functions a group and c
// groups whose positions are independent (section 3).
func FPR(f float64, k, c int) float64 {
	return -math.Expm1(float64(c) * math.Log1p(-math.Pow(f, float64(k))))
}

// Fill returns the expected share z(1) of set bits after online greedy insertion of n keys into perKey·n = m bits:
//
//	dz/dt = E[min(B_1 ... B_c)] / (m/n),  z(0) = 0,  B_i independent Binomial(k, 1-z)     (equation 3.2)
//
// It is the limit for large m: it ignores positions of a group that coincide, of order k/m. For c = 1 it is 1 -
// e^(-kn/m). Its error is below 1e-8. It returns NaN if perKey <= 0, k < 1 or c < 1.
func Fill(perKey float64, k, c int) float64 {
	if !(perKey > 0) || k < 1 || c < 1 {
		return math.NaN()
	}

	// This is the Dormand–Prince method of fifth order. Its steps adapt to the difference from the embedded method of
	// fourth order.
	const tolerance = 1e-10
	rise := func(z float64) float64 { return fewest(min(1, z), k, c) / perKey }
	z, t, h, k1 := 0.0, 0.0, 1./16, rise(0)
	for t < 1 {
		h = min(h, 1-t)
		k2 := rise(z + h*(1./5*k1))
		k3 := rise(z + h*(3./40*k1+9./40*k2))
		k4 := rise(z + h*(44./45*k1-56./15*k2+32./9*k3))
		k5 := rise(z + h*(19372./6561*k1-25360./2187*k2+64448./6561*k3-212./729*k4))
		k6 := rise(z + h*(9017./3168*k1-355./33*k2+46732./5247*k3+49./176*k4-5103./18656*k5))
		next := min(1, z+h*(35./384*k1+500./1113*k3+125./192*k4-2187./6784*k5+11./84*k6))
		k7 := rise(next)
		wrong := math.Abs(h * (71./57600*k1 - 71./16695*k3 + 71./1920*k4 - 17253./339200*k5 + 22./525*k6 - 1./40*k7))
		if wrong <= tolerance || h < 1e-6 { // else repeat the step with a smaller h
			z, t, k1 = next, t+h, k7 // k7 of this step is k1 of the next one
		}
		h *= min(4, max(0.2, 0.9*math.Pow(tolerance/max(wrong, 1e-20), 0.2)))
	}
	return z
}

// fewest returns E[min(B_1 ... B_c)] = Σ_{p=0}^{k-1} Pr[B > p]^c for B ~ Binomial(k, 1-z).
func fewest(z float64, k, c int) (sum float64) {
	if z >= 1 {
		return 0
	}

	if z <= 0 {
		return float64(k)
	}

	// Sum from p = k-1 down, which keeps the digits of small tails.
	term, above, odds := intPower(1-z, k), 0.0, z/(1-z) // term is Pr[B = p+1], above Pr[B > p+1]
	for p := k - 1; p >= 0; p-- {
		above += term
		sum += intPower(min(1, above), c)
		term *= float64(p+1) / float64(k-p) * odds
	}
	return sum
}

// intPower returns x^n for n >= 1, faster than math.Pow.
func intPower(x float64, n int) float64 {
	y := 1.0
	for ; n > 1; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return x * y
}

// bestK returns the number of functions per group, 1 to MaxK, with the lowest rate after online insertion with m/n =
// perKey bits per key and c groups. A search does best with a few more.
func bestK(perKey float64, c int) (k int) {
	rate := func(k int) float64 { return FPR(Fill(perKey, k, c), k, c) }
	k = min(MaxK, max(1, int(perKey*0.7)))
	best := rate(k)
	for _, step := range []int{1, -1} {
		for k+step >= 1 && k+step <= MaxK {
			p := rate(k + step)
			if p >= best {
				break
			}
			best, k = p, k+step
		}
	}
	return k
}

// searchedRate returns the rate of a filter with this fill after a search. It exceeds the rate r of independent groups
// by about 0.12·r²/c^(1/4), measured for 2 to 16 groups and 1 to 32 bits per key; see dependence. Without a search, the
// fill is a little lower than Fill says, which offsets the excess.
func searchedRate(fill float64, k, c int) float64 {
	rate := FPR(fill, k, c)
	return min(1, rate+0.12*rate*rate/math.Pow(float64(c), 0.25))
}

// priorRate returns p_b, the rate before a search: the rate of n keys added online.
func (g geometry) priorRate(n uint64) float64 {
	return FPR(Fill(float64(g.bits)*float64(g.shards)/float64(n), g.k, g.choices), g.k, g.choices)
}

// census returns the number of set bits and p_a, the mean of the rates of the shards. The fill that counts for a group
// is the share of set bits where its windows are: the group s has no bit among the first s of a shard and none among
// the last c-1-s.
func (f *Filter) census() (ones uint64, rate float64) {
	for shard := range f.shards {
		start, absent := shard*f.bits, 0.0
		all := bitvec.OnesIn(f.words, start, start+f.bits)
		for s := range uint64(f.choices) {
			in := all - bitvec.OnesIn(f.words, start, start+s) - bitvec.OnesIn(f.words, start+s+f.starts(), start+f.bits)
			absent += math.Log1p(-math.Pow(float64(in)/float64(f.starts()), float64(f.k)))
		}
		ones, rate = ones+all, rate-math.Expm1(absent)
	}
	return ones, min(1, rate/float64(f.shards)*f.dependence())
}

// maxSample is the largest number of windows from which dependence is measured.
const maxSample = 1 << 20

// dependence returns the rate of the filter as a multiple of the rate of independent groups with the same fill. Groups
// are independent if the bits are. A search, and the choice of a group, put set bits farther apart than random ones, so
// that fewer windows have both bits of two groups, and more keys have one: 2% more at 4 bits per key and c = 8.
//
// With q_S the share of windows that have the bits of all groups in S, inclusion and exclusion give the rate
//
//	Σ over all S but the empty one of (-1)^(|S|+1) q_S^k
//
// The windows are the first ones of the filter. They are a sample like any other, because positions are uniform.
func (f *Filter) dependence() float64 {
	with, windows := f.countWindows()
	absent, rate := 0.0, 0.0
	for groups := 1; groups < len(with); groups++ {
		all := intPower(float64(with[groups])/float64(windows), f.k)
		switch n := bits.OnesCount(uint(groups)); {
		case n == 1:
			absent += math.Log1p(-all)
			rate += all
		case n&1 == 1:
			rate += all
		default:
			rate -= all
		}
	}

	if independent := -math.Expm1(absent); independent > 0 {
		return rate / independent
	}
	return 1
}

// countWindows returns a number of windows, and for each set of groups how many of them have all of its bits.
func (f *Filter) countWindows() (with []uint32, windows uint64) {
	windows = min(f.shards*f.bits-uint64(f.choices)+1, maxSample)
	with = make([]uint32, 1<<f.choices)
	mask := uint64(len(with) - 1)
	const step = 57 - maxChoices + 1 // windows in a load
	for at := uint64(0); at < windows; at += step {
		x := bitvec.Load57(f.words, at)
		for range min(step, windows-at) {
			with[x&mask]++
			x >>= 1
		}
	}

	for bit := 1; bit < len(with); bit <<= 1 { // sums over all supersets
		for groups := range with {
			if groups&bit == 0 {
				with[groups] += with[groups|bit]
			}
		}
	}
	return with, windows
}
