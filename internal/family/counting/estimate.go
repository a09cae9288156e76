package counting

import (
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// EstimateKeys estimates the number of distinct keys from the share of counters that are not 0: ln(1-fill) /
// (k·ln(1-1/m)) (Swamidass and Baldi, 2007). It returns +Inf if no counter is 0. Stuck counters of keys that were
// removed count as well. It reads the whole filter.
func (f *Filter) EstimateKeys() float64 {
	return probe.EstimateKeys(float64(f.used())/float64(f.m), f.m, f.k)
}

// Cells describes the counters: those of 0 are free.
func (f *Filter) Cells() family.Cells { return probe.Cells(f.m, f.k) }

// Free returns the number of counters that are 0 in both filters. Errors are those of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) {
	o, err := bitvec.Same(f, other)
	if err != nil {
		return 0, err
	}
	free := f.m
	for i, w := range f.words {
		free -= usedIn(w | o.words[i])
	}
	return free, nil
}
