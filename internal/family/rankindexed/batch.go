package rankindexed

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(len(f.table), dst, hs, f.prefetch, f.hasEach)
}

// prefetch requests the indexes of the buckets of at most probe.BatchSize keys from memory.
func (a *arrays) prefetch(hs []filter.Hash) {
	var at [probe.BatchSize]uint64
	for i, h := range hs {
		b, chain, _ := a.walk.Locate(h.Hi, h.Lo)
		at[i] = b*a.words + chain/64
	}
	bitvec.Prefetch(a.table, at[:len(hs)])
}

// hasEach sets dst[i] to Has(hs[i]) for every i.
func (f *Filter) hasEach(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}
