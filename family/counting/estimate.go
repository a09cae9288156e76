package counting

import "github.com/bloomery/bloomery/internal/probe"

// EstimateKeys estimates the number of distinct keys from the share of counters that are not 0: ln(1-fill) /
// (k·ln(1-1/m)) (Swamidass and Baldi, 2007). It returns +Inf if no counter is 0. Stuck counters of keys that were
// removed count as well. It reads the whole filter.
func (f *Filter) EstimateKeys() float64 {
	return probe.EstimateKeys(float64(f.used())/float64(f.m), f.m, f.k)
}
