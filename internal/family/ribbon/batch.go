package ribbon

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// batch is the largest number of keys that are queried together.
const batch = 256

// inCache is the number of words, 2 MiB, of a filter that the caches hold, for which prefetching gains nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). In filters larger than the caches it prefetches the blocks of later keys. It
// panics if dst and hs differ in length.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) { f.hasMany(dst, hs, len(f.words) > inCache) }

// HasManyCold is HasMany with prefetching in a filter of any size.
func (f *Filter) HasManyCold(dst []bool, hs []filter.Hash) { f.hasMany(dst, hs, true) }

func (f *Filter) hasMany(dst []bool, hs []filter.Hash, cold bool) {
	family.CheckBatch(dst, hs)
	first := &f.kernels[0]
	var list [batch]uint16
	for len(hs) > 0 {
		n := min(len(hs), batch)
		for _, i := range first.HasMany(dst[:n], hs[:n], list[:], cold) {
			dst[i] = first.HasFurther(hs[i].Hi, hs[i].Lo)
		}
		dst, hs = dst[n:], hs[n:]
	}
}

// Prefetch asks for the blocks of the keys in the first layer.
func (f *Filter) Prefetch(hs []filter.Hash) { f.kernels[0].Prefetch(hs) }
