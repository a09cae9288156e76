package twochoice

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is the number of keys that are queried together; see family standard.
const batch = 16

// first is the number of positions of each group that are prefetched. At half fill 1/8 of the groups need more.
const first = 3

// inCache is the number of words, 2 MiB, of a filter that the caches hold, for which batches gain nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). It prefetches the first lines of all groups of a batch of keys before it tests
// them. It panics if dst and hs differ in length.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	filter.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	if len(f.words) < inCache {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
		return
	}
	f.hasMany(dst, hs)
}

func (f *Filter) hasMany(dst []bool, hs []filter.Hash) {
	var room [batch * MaxChoices * first]uint64
	for from := 0; from < len(hs); from += batch {
		to := min(from+batch, len(hs))
		at := room[:0]
		for _, h := range hs[from:to] {
			start := f.shard(h) * f.bits
			for j := range f.choices {
				w := f.walk(h, j)
				for range min(first, f.k) {
					at = append(at, start+f.next(&w))
				}
			}
		}
		bitvec.PrefetchBits(f.words, at)
		for i := from; i < to; i++ {
			dst[i] = f.Has(hs[i])
		}
	}
}
