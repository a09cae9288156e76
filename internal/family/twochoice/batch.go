package twochoice

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// first is the number of positions of each group that are prefetched. At half fill 1/8 of the groups need more.
const first = 3

// HasMany sets dst[i] to Has(hs[i]); see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(len(f.words), dst, hs, f.prefetch, probe.HasEach(f))
}

// prefetch prefetches the first lines of all groups of at most probe.BatchSize keys, half of them at a time.
func (f *Filter) prefetch(hs []filter.Hash) {
	var room [probe.BatchSize / 2 * maxChoices * first]uint64
	for len(hs) > 0 {
		at := room[:0]
		for _, h := range hs[:min(probe.BatchSize/2, len(hs))] {
			start := f.shard(h) * f.bits
			for j := range f.choices {
				w := f.walk(h, j)
				for range min(first, f.k) {
					at = append(at, start+f.next(&w))
				}
			}
		}
		bitvec.PrefetchBits(f.words, at)
		hs = hs[min(probe.BatchSize/2, len(hs)):]
	}
}
