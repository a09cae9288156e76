package standard

import "math"

// FPR returns p_b, the predicted false positive probability of a filter of m bits after n distinct keys with k probes
// each: (1-(1-1/m)^(kn))^k. It treats the bits as independent, which is a little too low when m is tiny (Bose et al.,
// 2008); the posterior rate has no such error. m and k must not be 0.
func FPR(n, m uint64, k int) float64 {
	empty := float64(k) * float64(n) * math.Log1p(-1/float64(m))
	if m == 1 && n > 0 {
		return 1
	}
	return math.Pow(-math.Expm1(empty), float64(k))
}

// OptimalK returns the number of probes, 1 to MaxK, that makes FPR(n, m, k) least. It lies beside ln 2 · m/n.
func OptimalK(n, m uint64) int {
	if n == 0 {
		return 1
	}
	k := max(1, int(min(MaxK, math.Ln2*float64(m)/float64(n))))
	if k < MaxK && FPR(n, m, k+1) < FPR(n, m, k) {
		k++
	}
	return k
}

// bitsForFPR returns the real number of bits at which FPR(n, m, k) is p: the formula solved for m.
func bitsForFPR(n uint64, p float64, k int) float64 {
	full := math.Pow(p, 1/float64(k))
	return -1 / math.Expm1(math.Log1p(-full)/(float64(k)*float64(n)))
}

// smallest returns the least number of bits, and its k, that keeps the rate p for n keys.
func smallest(n uint64, p float64) (bits float64, k int) {
	bits = math.Inf(1)
	for try := 1; try <= MaxK; try++ {
		if b := bitsForFPR(n, p, try); b < bits {
			bits, k = b, try
		}
	}
	return bits, k
}

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
