package blockpartitioned

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// HasMany sets dst[i] to Has(hs[i]); see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(len(f.words), dst, hs, f.prefetch, f.hasEach)
}

// prefetch prefetches the blocks of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	lines := int(f.block / lineBits)
	var at [2 * probe.BatchSize]uint64
	for i, h := range hs {
		block, _ := bits.Mul64(h.Hi, f.blocks)
		for l := range lines {
			at[i*lines+l] = block*f.block + uint64(l)*lineBits
		}
	}
	bitvec.PrefetchBits(f.words, at[:len(hs)*lines])
}

// lineBits is the number of bits of a cache line.
const lineBits = 64 * bitvec.LineWords

// hasEach sets dst[i] to Has(hs[i]) for every i.
func (f *Filter) hasEach(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}
