package probe

import "math"

// EstimateKeys returns an estimate of the number of distinct keys of a filter of m places, of which a share fill in [0,
// 1] is in use, with k probes per key: ln(1-fill) / (k·ln(1-1/m)) (Swamidass and Baldi, 2007). It returns +Inf if every
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
