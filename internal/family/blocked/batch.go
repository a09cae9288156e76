package blocked

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// HasMany sets dst[i] to Has(hs[i]) for every i, with vector code if there is some, else by probe.HasMany. dst must be
// as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	if !f.query.HasMany(dst[:len(hs)], hs) {
		probe.HasMany(probe.InCache, dst, hs, f.Prefetch, f.hasEach)
	}
}

// HasManyCold is HasMany.
func (f *Filter) HasManyCold(dst []bool, hs []filter.Hash) { f.HasMany(dst, hs) }

// Prefetch asks for the blocks of the keys.
func (f *Filter) Prefetch(hs []filter.Hash) {
	var at [probe.BatchSize]uint64
	for ; len(hs) > 0; hs = hs[min(probe.BatchSize, len(hs)):] {
		group := hs[:min(probe.BatchSize, len(hs))]
		for i, h := range group {
			at[i] = f.block(h)
		}
		bitvec.Prefetch(f.words, at[:len(group)])
	}
}

// hasEach sets dst[i] to Has(hs[i]) for every i.
func (f *Filter) hasEach(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}
