package rankindexed

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is how many keys go together: enough misses to fill a core's queue.
const batch = 32

// inCache is the number of words, 2 MiB, up to which the caches answer so fast that batches gain less than they cost.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). It asks for the index of the buckets of a batch of keys before it looks at any of
// them. dst must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	filter.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	if len(f.table) >= inCache {
		f.hasMany(dst, hs)
		return
	}
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}

func (f *Filter) hasMany(dst []bool, hs []filter.Hash) {
	var at [batch]uint64
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		for i, h := range group {
			b, chain, _ := f.walk.Locate(h.Hi, h.Lo)
			at[i] = b*f.words + chain/64
		}
		bitvec.Prefetch(f.table, at[:len(group)])
		for i, h := range group {
			dst[start+i] = f.Has(h)
		}
	}
}
