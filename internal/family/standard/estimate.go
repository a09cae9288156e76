package standard

import (
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// EstimateKeys estimates the number of distinct keys from the share of bits that are set: ln(1-fill) / (k·ln(1-1/m))
// (Swamidass and Baldi, 2007). It returns +Inf if every bit is set. It reads the whole filter.
func (f *Filter) EstimateKeys() float64 {
	return probe.EstimateKeys(float64(bitvec.OnesCount(f.words))/float64(f.m), f.m, f.k)
}

// Cells describes the bits.
func (f *Filter) Cells() family.Cells { return probe.Cells(f.m, f.k) }

// Free returns the number of bits that are 0 in both filters. Errors are those of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) { return bitvec.Free(f, other, f.m) }
