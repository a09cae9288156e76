package rankindexed

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is the number of keys whose cache lines are requested together: enough misses to fill the queue of a core.
const batch = 32

// inCache is the number of words, 2 MiB, below which the caches are so fast that batches gain less than they cost.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]) for every i. It requests the indexes of the buckets of 32 keys from memory before
// it reads any. It panics if dst and hs differ in length.
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
		f.prefetch(&at, group)
		for i, h := range group {
			dst[start+i] = f.Has(h)
		}
	}
}

// prefetch requests the indexes of the buckets of at most batch keys from memory. at is room for its work.
func (a *arrays) prefetch(at *[batch]uint64, hs []filter.Hash) {
	for i, h := range hs {
		b, chain, _ := a.walk.Locate(h.Hi, h.Lo)
		at[i] = b*a.words + chain/64
	}
	bitvec.Prefetch(a.table, at[:len(hs)])
}
