package twochoice

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
)

// layOut fills s for a shard: a group of s is a key, its keys are the windows of the key, and its shift is the chosen
// group.
//
//go:norace
func layOut(s *anneal.State, g geometry, keys []filter.Hash) {
	sizes := make([]uint32, len(keys))
	for i := range sizes {
		sizes[i] = uint32(g.k)
	}

	s.Reset(anneal.Geometry{Bits: g.bits, K: 1, Choices: g.choices}, sizes)
	s.FPR = func(fill float64) float64 { return searchedRate(fill, g.k, g.choices) }
	for i, h := range keys {
		w := g.walkKey(h)
		w.start = 0
		pos := s.Positions(i)
		for l := range pos {
			pos[l] = uint32(w.next())
		}
	}
}

// searchShard is the offline solution for one shard (section 3.2), with noise; see package anneal. If from is not nil,
// the search starts from the groups that it has.
func searchShard(s *anneal.State, part *anneal.Part, g geometry, shard uint64, keys []filter.Hash, from *Filter) {
	layOut(s, g, keys)
	if from != nil {
		for i, h := range keys {
			s.Shifts[i] = anneal.Open
			if groups := from.groups(h); groups != 0 {
				s.Shifts[i] = uint8(bits.TrailingZeros64(groups))
			}
		}
	}
	rnd := anneal.Random(shard * 0x9E3779B97F4A7C15) // by shard, so that the number of workers does not matter
	part.Run(s, &rnd, from != nil)
}
