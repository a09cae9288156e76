package standard

import (
	"math/bits"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// EstimateKeys estimates the number of distinct keys from the share of bits that are set: ln(1-fill) / (k·ln(1-1/m))
// (Swamidass and Baldi, 2007). It returns +Inf if every bit is set. It reads the whole filter.
func (f *Filter) EstimateKeys() float64 { return f.estimate(bitvec.OnesCount(f.words)) }

// EstimateUnion estimates the number of distinct keys that are in at least one of two filters, without changing either.
// Errors are those of Merge.
func (f *Filter) EstimateUnion(other *Filter) (float64, error) {
	o, err := f.same(other)
	if err != nil {
		return 0, err
	}
	var ones uint64
	for i, w := range f.words {
		ones += uint64(bits.OnesCount64(w | o.words[i]))
	}
	return f.estimate(ones), nil
}

// EstimateIntersection estimates the number of distinct keys that are in both of two filters, as |A| + |B| - |A ∪ B|.
// It is never below 0. Errors are those of Merge.
func (f *Filter) EstimateIntersection(other *Filter) (float64, error) {
	union, err := f.EstimateUnion(other)
	if err != nil {
		return 0, err
	}
	return max(0, f.EstimateKeys()+other.EstimateKeys()-union), nil
}

// estimate returns the estimate for that many set bits.
func (f *Filter) estimate(ones uint64) float64 {
	return probe.EstimateKeys(float64(ones)/float64(f.m), f.m, f.k)
}
