package counting

import (
	"math"

	"github.com/bloomery/bloomery/internal/probe"
)

// FPR returns p_b, the predicted false-positive probability, in [0, 1], of a filter of m counters that holds n distinct
// keys with k probes each: (1-(1-1/m)^(kn))^k, as for a standard filter of m bits, since a counter is above 0 where the
// bit would be set. It does not include stuck counters of keys that were removed; the posterior rate does. m and k must
// not be 0.
func FPR(n, m uint64, k int) float64 { return probe.FPR(n, m, k) }

// posterior returns p_a = fill^k, where fill is the share of counters that are not 0.
func posterior(fill float64, k int) float64 { return math.Pow(fill, float64(k)) }
