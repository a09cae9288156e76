package blocked

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is the number of keys that are tested together; see package standard.
const batch = 32

// HasMany sets dst[i] to Has(hs[i]) for every i. It prefetches the blocks of a batch of keys before it reads any of
// them. dst must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	filter.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	if f.query.HasMany(dst, hs) {
		return
	}
	var at [batch]uint64
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		for i, h := range group {
			at[i] = f.block(h)
		}
		bitvec.Prefetch(f.words, at[:len(group)])
		for i, h := range group {
			dst[start+i] = f.Has(h)
		}
	}
}

// HasManyCold is HasMany.
func (f *Filter) HasManyCold(dst []bool, hs []filter.Hash) { f.HasMany(dst, hs) }

// Prefetch asks for the blocks of the keys.
func (f *Filter) Prefetch(hs []filter.Hash) {
	var at [batch]uint64
	for ; len(hs) > 0; hs = hs[min(batch, len(hs)):] {
		group := hs[:min(batch, len(hs))]
		for i, h := range group {
			at[i] = f.block(h)
		}
		bitvec.Prefetch(f.words, at[:len(group)])
	}
}
