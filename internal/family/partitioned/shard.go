package partitioned

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/probe"
)

// layOut fills s for a shard. Its keys are in the order of Hi, and so of their groups.
//
//go:norace
func layOut(s *anneal.State, g geometry, shard uint64, keys []filter.Hash) {
	sizes := make([]uint32, g.groups)
	first := shard * g.groups
	for _, h := range keys {
		sizes[g.group(h)-first]++
	}
	s.Reset(anneal.Geometry{Bits: g.bits, K: g.k, Width: g.width}, sizes)
	base := g.base()
	for j := range sizes {
		pos, size := s.Positions(j), s.Size(j)
		for i, h := range keys[:size] {
			x, by := h.Lo, probe.Mixer(h)
			for l := range g.k {
				pos[l*size+i] = uint32(probe.Position(x, base))
				x = probe.Mix(x, by)
			}
		}
		keys = keys[size:]
	}
}

// searchShard searches a shard. If from is not nil, the search starts from its shifts.
func searchShard(s *anneal.State, part *anneal.Part, shard uint64, from *Filter) {
	if from != nil {
		for i := range s.Shifts {
			s.Shifts[i] = uint8(from.shift(shard*from.groups, i))
		}
	}
	rnd := anneal.Random(shard * 0x9E3779B97F4A7C15)
	part.Run(s, &rnd, from != nil)
}

// store writes the bits and shifts of a shard to the filter.
func (f *Filter) store(shard uint64, s *anneal.State) {
	s.Store(f.bitmap, shard*f.bits)
	s.StoreShifts(f.shifts, shard*f.groups*f.side)
}
