package standard

import (
	"math"

	"github.com/bloomery/bloomery/internal/probe"
)

// FPR returns p_b, the predicted false positive probability of a filter of m bits after n distinct keys with k probes
// each; see probe.FPR.
func FPR(n, m uint64, k int) float64 { return probe.FPR(n, m, k) }

// OptimalK returns the number of probes, 1 to MaxK, that makes FPR(n, m, k) least. It lies beside ln 2 · m/n.
func OptimalK(n, m uint64) int { return probe.OptimalK(n, m) }

// posterior returns p_a = f^k.
func posterior(fill float64, k int) float64 { return math.Pow(fill, float64(k)) }

// Cardinality estimates how many distinct keys the filter holds from its fill: ln(1-f) / (k·ln(1-1/m)) (Swamidass and
// Baldi, 2007). It returns +Inf for a filter with every bit set, which bears no upper bound.
func (f *Filter) Cardinality() float64 { return cardinality(f.Info().Fill, f.m, f.k) }

// CardinalityUnion estimates how many distinct keys stand in one or both of two filters of the same geometry, without
// changing either. Inclusion and exclusion then give the intersection: |A| + |B| - |A ∪ B|.
func (f *Filter) CardinalityUnion(o *Filter) (float64, error) {
	if _, err := f.same(o); err != nil {
		return 0, err
	}
	u := &Filter{words: append([]uint64(nil), f.words...), m: f.m, k: f.k}
	if err := u.Merge(o); err != nil {
		return 0, err
	}
	return u.Cardinality(), nil
}

// CardinalityIntersect estimates how many distinct keys stand in both of two filters of the same geometry, by
// inclusion and exclusion; it is never below 0.
func (f *Filter) CardinalityIntersect(o *Filter) (float64, error) {
	u, err := f.CardinalityUnion(o)
	if err != nil {
		return 0, err
	}
	return max(0, f.Cardinality()+o.Cardinality()-u), nil
}

func cardinality(fill float64, m uint64, k int) float64 {
	if fill == 0 {
		return 0
	}
	if m == 1 {
		return math.Inf(1)
	}
	return math.Log1p(-fill) / (float64(k) * math.Log1p(-1/float64(m)))
}
