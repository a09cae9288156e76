package counting

import (
	"math"

	"github.com/bloomery/bloomery/internal/probe"
)

// FPR returns p_b, the predicted false positive probability of a filter of m counters that holds n distinct keys with k
// probes each: that of a standard filter of m bits, (1-(1-1/m)^(kn))^k, since a counter is above 0 where the bit is set.
// Stuck counters of keys that were removed come on top; the posterior rate sees them. m and k must not be 0.
func FPR(n, m uint64, k int) float64 { return probe.FPR(n, m, k) }

// posterior returns p_a = f^k, f being the share of counters that are not 0.
func posterior(fill float64, k int) float64 { return math.Pow(fill, float64(k)) }
