package probe

import (
	"math"

	"github.com/bloomery/bloomery/internal/family"
)

// EstimateKeys estimates the number of distinct keys of a filter of m places with k probes per key, if a share fill in
// [0, 1] of the places is in use: ln(1-fill) / (k·ln(1-1/m)) (Swamidass and Baldi, 2007). It returns +Inf if every
// place is in use.
func EstimateKeys(fill float64, m uint64, k int) float64 {
	switch {
	case fill == 0:
		return 0
	case m == 1:
		return math.Inf(1)
	}
	return math.Log1p(-fill) / (float64(k) * math.Log1p(-1/float64(m)))
}

// Cells describes m cells if each key probes k of them independently: the occupancy problem with kn throws.
func Cells(m uint64, k int) family.Cells {
	cells, probes := float64(m), float64(k)
	free := probes * math.Log1p(-1/cells)
	c := family.Cells{Number: m, Free: free, Pairs: []family.CellPair{{Share: 1 / cells, Both: -free}}}
	if m > 1 { // (1-2/m)^k / (1-1/m)^2k
		c.Pairs = append(c.Pairs, family.CellPair{Share: 1 - 1/cells, Both: probes * math.Log1p(-1/((cells-1)*(cells-1)))})
	}
	return c
}

// z95 is the 97.5% quantile of the standard normal distribution.
const z95 = 1.959963984540054

// KeysInCells estimates the number of distinct keys of a filter with free free cells, and returns the 95% interval of
// the number of keys, rounded outwards to whole numbers. Without free cells keys and high are +Inf.
//
// With n keys the mean number of free cells is E(n) = m·q^n, where q is the probability that a key leaves a cell free
// (Swamidass and Baldi, 2007, for keys with k independent probes), and its variance is
//
//	E(n)² · V(n),  V(n) = Σ over pairs of cells (r^n - 1) / m²,  r = P(a key leaves both free) / q²
//
// For independent probes, V is (e^λ - 1 - λ) / m up to terms of order 1/m², with λ = kn/m: Whang, Vander-Zanden and
// Taylor, "A linear-time probabilistic counting algorithm for database applications", ACM TODS 15(2), 1990, theorem 3.
// The interval contains every n with |free - E(n)| <= z·sqrt(V(n))·E(n) + 1/2, z = 1.96. V is evaluated at each n, not
// at an estimate of n, so the interval is also right for filters that are nearly full, where the number of free cells
// is a small Poisson number.
func KeysInCells(c family.Cells, free uint64) (keys, low, high float64) {
	switch {
	case free >= c.Number:
		return 0, 0, 0
	case free > 0:
		keys = logFree(c, float64(free)) / c.Free
	default:
		keys = math.Inf(1)
	}

	mean := func(n float64) float64 { return float64(c.Number) * math.Exp(n*c.Free) }
	slack := func(n float64) float64 { return z95*mean(n)*math.Sqrt(max(0, relativeVariance(c, n))) + 0.5 }
	most := farthestKeys(c)
	low = bisect(0, min(keys, most), func(n float64) bool { return float64(free) <= mean(n)-slack(n) })
	high = math.Inf(1)
	if free > 0 {
		high = bisect(keys, most, func(n float64) bool { return float64(free) <= mean(n)+slack(n) })
	}
	return keys, max(1, math.Floor(low)), math.Ceil(high)
}

// CommonInCells estimates the number of distinct keys that two filters with the same cells have in common, and returns
// the 95% interval of this number, rounded outwards. a and b are the numbers of free cells of the filters, both is the
// number of cells that are free in both. keys and high are +Inf if neither filter has a free cell.
//
// The estimate is |A| + |B| - |A ∪ B| = ln(a·b / (both·m)) / ln q, which is the estimate of Papapetrou, Siberski and
// Nejdl, "Cardinality estimation and dynamic length adaptation for Bloom filters", Distributed and Parallel Databases
// 28(2), 2010. A number of 0 free cells counts as half a cell.
//
// The interval follows from the covariance of the numbers of free cells of two filters with x keys in common: relative
// to the product of their means it is V(x), V as in KeysInCells. All keys of A are also in A ∪ B, so to first
// order the relative variance of both / (a·b), and with it the relative variance of the estimate of q^-x, is
//
//	S(x) = V(|A ∪ B|) + 2·V(x) - V(|A|) - V(|B|),  |A ∪ B| = |A| + |B| - x
//
// The interval contains every x from 0 to the upper ends for A and B with |both - E(x)| <= z·sqrt(S(x))·E(x) + 1/2,
// where E(x) = a·b·q^-x / m is the mean that a, b and x predict for both.
func CommonInCells(c family.Cells, a, b, both uint64) (keys, low, high float64) {
	inA, _, mostA := KeysInCells(c, a)
	inB, _, mostB := KeysInCells(c, b)
	most := min(mostA, mostB)
	switch {
	case most == 0:
		return 0, 0, 0
	case a == 0 && b == 0:
		return math.Inf(1), 0, math.Inf(1)
	}

	half := func(n uint64) float64 { return max(float64(n), 0.5) }
	logs := logFree(c, half(a)) + logFree(c, half(b))
	keys = min(max(0, (logs-logFree(c, half(both)))/c.Free), inA, inB)
	if a == 0 || b == 0 {
		return keys, 0, most
	}

	mean := func(x float64) float64 { return float64(c.Number) * math.Exp(logs-x*c.Free) }
	slack := func(x float64) float64 {
		s := relativeVariance(c, inA+inB-x) + 2*relativeVariance(c, x) - relativeVariance(c, inA) - relativeVariance(c, inB)
		return z95*mean(x)*math.Sqrt(max(0, s)) + 0.5
	}

	low = bisect(0, keys, func(x float64) bool { return float64(both) > mean(x)+slack(x) })
	high = bisect(keys, most, func(x float64) bool { return float64(both) >= mean(x)-slack(x) })
	return keys, math.Floor(low), min(math.Ceil(high), most)
}

// logFree returns the logarithm of the share of free cells.
func logFree(c family.Cells, free float64) float64 { return math.Log(free / float64(c.Number)) }

// relativeVariance returns V(n) of KeysInCells.
func relativeVariance(c family.Cells, n float64) (v float64) {
	for _, p := range c.Pairs {
		v += p.Share * math.Expm1(n*p.Both)
	}
	return v
}

// farthestKeys returns a number of keys after which any cell is free with a probability of at most 1e-9: e^-21 < 1e-9.
func farthestKeys(c family.Cells) float64 { return (-21 - math.Log(float64(c.Number))) / c.Free }

// bisect returns the number in [from, to] up to which is returns true: to if is(to) is true, and from if is is false
// everywhere.
func bisect(from, to float64, is func(float64) bool) float64 {
	if !(from < to) || is(to) {
		return to
	}
	for range 64 { // more halvings than a float64 has bits
		if middle := (from + to) / 2; is(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return from
}
