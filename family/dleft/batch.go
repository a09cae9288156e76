package dleft

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is how many keys go together; see the standard family.
const batch = 32

// inCache is the number of words, 2 MiB, up to which the caches answer so fast that batches gain nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). It asks for the buckets of a batch of keys before it looks at any of them. dst must be as
// long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)]
	if len(f.words) < inCache {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
		return
	}
	f.hasMany(dst, hs)
}

func (f *Filter) hasMany(dst []bool, hs []filter.Hash) {
	var at [batch * subtables]uint64
	for from := 0; from < len(hs); from += batch {
		to := min(from+batch, len(hs))
		for i, h := range hs[from:to] {
			p := f.place(h)
			copy(at[i*subtables:], p.at[:])
		}
		bitvec.PrefetchBits(f.words, at[:(to-from)*subtables])
		for i := from; i < to; i++ {
			dst[i] = f.Has(hs[i])
		}
	}
}
