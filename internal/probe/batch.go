package probe

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

const (
	// BatchSize is the number of keys of a group: enough cache misses to fill a core's queue (10 to 48), few enough that
	// the lines are still in the first-level cache when they are read.
	BatchSize = 32

	// InCache is a number of words, 2 MiB. Smaller filters are tested key by key: the caches answer so fast that groups
	// cost more than they gain.
	InCache = 1 << 18
)

// HasMany calls has with all keys. In a filter of at least InCache words it does so in groups of at most BatchSize, and
// calls prefetch with each group before, so that cache misses overlap. It panics if dst and hs differ in length.
func HasMany(
	words int, dst []bool, hs []filter.Hash, prefetch func(hs []filter.Hash), has func(dst []bool, hs []filter.Hash),
) {
	family.CheckBatch(dst, hs)
	for len(hs) > 0 {
		n := len(hs)
		if words >= InCache {
			n = min(n, BatchSize)
			prefetch(hs[:n])
		}
		has(dst[:n], hs[:n])
		dst, hs = dst[n:], hs[n:]
	}
}

// HasEach returns a function that sets dst[i] to f.Has(hs[i]) for every i. It costs a nanosecond per key more than a
// loop in the family, which fast families have.
func HasEach(f family.Filter) func(dst []bool, hs []filter.Hash) {
	return func(dst []bool, hs []filter.Hash) {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
	}
}
