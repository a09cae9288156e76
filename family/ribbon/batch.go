package ribbon

import "github.com/bloomery/bloomery/filter"

// HasMany sets dst[i] to Has(hs[i]). It panics if dst and hs differ in length.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	filter.CheckBatch(dst, hs)
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}
