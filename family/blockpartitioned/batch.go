package blockpartitioned

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is the number of keys that are queried together; see family standard.
const batch = 32

// inCache is the number of words, 2 MiB, of a filter that the caches hold, for which batches gain nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). It prefetches the blocks of a batch of keys before it tests them. It panics if dst
// and hs differ in length.
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
	lines := int(f.block / lineBits)
	var at [2 * batch]uint64
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		for i, h := range group {
			block, _ := bits.Mul64(h.Hi, f.blocks)
			for l := range lines {
				at[i*lines+l] = block*f.block + uint64(l)*lineBits
			}
		}
		bitvec.PrefetchBits(f.words, at[:len(group)*lines])
		for i, h := range group {
			dst[start+i] = f.Has(h)
		}
	}
}

// lineBits is the number of bits of a cache line.
const lineBits = 64 * bitvec.LineWords
