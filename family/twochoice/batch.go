package twochoice

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is how many keys go together; see the standard family.
const batch = 16

// first is how many positions of every group are asked for at once. At half fill three leave an eighth of the groups.
const first = 3

// inCache is the number of words, 2 MiB, up to which the caches answer so fast that batches gain nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). It asks for the first lines of all groups of a batch of keys before it looks at any
// of them. dst must be as long as hs.
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
