package ribbon

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
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
	filter.CheckBatch(dst, hs)
	first := &f.kernels[0]
	var list [batch]uint16
	for len(hs) > 0 {
		n := min(len(hs), batch)
		for _, i := range first.HasMany(dst[:n], hs[:n], list[:], cold) {
			dst[i] = first.Rest(hs[i].Hi, hs[i].Lo)
		}
		dst, hs = dst[n:], hs[n:]
	}
}

// Prefetch asks for the blocks of the keys in the first layer.
func (f *Filter) Prefetch(hs []filter.Hash) {
	if len(f.layers) == 0 {
		return
	}
	l := &f.layers[0]
	var at [2 * ahead]uint64
	for ; len(hs) > 0; hs = hs[min(ahead, len(hs)):] {
		group := hs[:min(ahead, len(hs))]
		for i, h := range group {
			block := l.slot(l.start(h.Hi)) / 64
			at[2*i], at[2*i+1] = l.begin(block), l.begin(block+1)
		}
		bitvec.Prefetch(f.words, at[:2*len(group)])
	}
}

// ahead is the number of keys whose blocks Prefetch asks for together.
const ahead = 16
