package blockpartitioned

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is how many keys go together; see the standard family.
const batch = 32

// inCache is the number of words, 2 MiB, up to which the caches answer so fast that batches gain nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]), having asked for the blocks of a batch of keys before it looks at any of them. dst
// must be as long as hs.
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
