package counting

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// first is the number of probes of every key that are prefetched at once. At half fill three probes leave an eighth of
// the absent keys.
const first = 3

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany. In the caches a call less is worth 4% of the time.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	if len(f.words) < probe.InCache {
		family.CheckBatch(dst, hs)
		f.hasEach(dst, hs)
		return
	}
	probe.HasMany(len(f.words), dst, hs, f.prefetch, f.hasEach)
}

// prefetch prefetches the words of the first probes of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	var room [probe.BatchSize * first]uint64
	bits := room[:0]
	for _, h := range hs {
		x, by := h.Lo, h.Hi
		for range min(first, f.k) {
			bits = append(bits, probe.Position(x, f.m)*width)
			x = probe.Next(x, by)
		}
	}
	bitvec.PrefetchBits(f.words, bits)
}

// hasEach sets dst[i] to Has(hs[i]) for every i.
func (f *Filter) hasEach(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}
