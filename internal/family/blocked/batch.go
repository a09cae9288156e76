package blocked

import (
	"math/bits"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/probe"
)

// HasMany sets dst[i] to Has(hs[i]) for every i, with vector code if the machine has it, else by probe.HasMany. dst
// must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	if !f.query.HasMany(dst[:len(hs)], hs) {
		probe.HasMany(probe.InCache, dst, hs, f.Prefetch, f.hasEach)
	}
}

// HasManyCold is HasMany.
func (f *Filter) HasManyCold(dst []bool, hs []filter.Hash) { f.HasMany(dst, hs) }

// Prefetch prefetches the blocks of the keys.
func (f *Filter) Prefetch(hs []filter.Hash) {
	var at [probe.BatchSize]uint64
	for ; len(hs) > 0; hs = hs[min(probe.BatchSize, len(hs)):] {
		group := hs[:min(probe.BatchSize, len(hs))]
		for i, h := range group {
			at[i] = f.firstWord(h)
		}
		bitvec.Prefetch(f.Words, at[:len(group)])
	}
}

// hasEach sets dst[i] to Has(hs[i]) for every i.
func (f *Filter) hasEach(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}

// spread implements family.Spread for filters of the same layout and k. Its memory is 16 bytes per filter: the
// locations of 1,000 filters fit in the first-level cache, which the filters themselves do not.
type spread struct {
	query  kernel.Blocks // query without words
	k      int
	split  bool
	shift  uint8 // a block has 1<<shift bytes
	places []place
}

// place is the location of the blocks of a filter.
type place struct {
	first  unsafe.Pointer
	blocks uint64
}

// Spread implements family.Spreader. It returns nil if the machine has no vector code for the layout and k.
func (f *Filter) Spread(filters int) family.Spread {
	s := &spread{k: f.K, split: f.split, shift: 6, places: make([]place, filters)}
	if f.split {
		s.query, s.shift = kernel.NewSplit(nil), 5
	} else {
		s.query = kernel.NewLine(nil, f.K)
	}
	if !s.query.HasAt(nil, nil, nil) { // without keys, this only tells whether the vector code exists
		return nil
	}
	return s
}

// SetFilter makes f filter i if it is a filter of the same layout and k.
func (s *spread) SetFilter(i int, f family.Filter) bool {
	o, ok := f.(*Filter)
	if !ok || o.K != s.k || o.split != s.split || o.blocks == 0 {
		s.places[i] = place{}
		return false
	}
	s.places[i] = place{first: unsafe.Pointer(unsafe.SliceData(o.Words)), blocks: o.blocks}
	return true
}

// spreadBatch is the number of keys whose blocks are found before the first of them is tested.
const spreadBatch = 256

// HasManySpread finds the blocks of a batch of keys, then tests them.
func (s *spread) HasManySpread(dst []bool, hs []filter.Hash, at []uint32) {
	family.CheckBatch(dst, hs)
	at = at[:len(hs)]
	var blocks [spreadBatch]unsafe.Pointer
	for len(hs) > 0 {
		n := min(len(hs), spreadBatch)
		early := min(n, probe.BatchSize)
		s.findBlocks(blocks[:early], hs, at)
		bitvec.PrefetchAt(blocks[:early]) // HasAt prefetches the later blocks
		s.findBlocks(blocks[early:n], hs[early:], at[early:])
		s.query.HasAt(dst[:n], hs[:n], blocks[:n])
		dst, hs, at = dst[n:], hs[n:], at[n:]
	}
}

// findBlocks sets the blocks of the first keys.
func (s *spread) findBlocks(blocks []unsafe.Pointer, hs []filter.Hash, at []uint32) {
	hs, at = hs[:len(blocks)], at[:len(blocks)]
	places, shift := s.places, s.shift&63
	for i, h := range hs {
		p := &places[at[i]]
		block, _ := bits.Mul64(h.Hi, p.blocks)
		blocks[i] = unsafe.Add(p.first, block<<shift)
	}
}
