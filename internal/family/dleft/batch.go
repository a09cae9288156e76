package dleft

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/batch"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// HasMany sets dst[i] to Has(hs[i]) for every i. It prefetches the buckets of a batch of keys before it reads any of
// them. dst must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	if f.vector {
		f.query.HasMany(dst, hs)
		return
	}
	if len(f.words) < batch.InCache {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
		return
	}
	f.hasMany(dst, hs)
}

func (f *Filter) hasMany(dst []bool, hs []filter.Hash) {
	var places [batch.Size]place
	for from := 0; from < len(hs); from += batch.Size {
		to := min(from+batch.Size, len(hs))
		for i, h := range hs[from:to] {
			places[i] = f.place(h)
			bitvec.PrefetchBits(f.words, places[i].at[:])
		}
		for i := range to - from {
			dst[from+i] = f.holds(&places[i])
		}
	}
}
