package twochoice

import (
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// search is the offline solution for one shard (section 3.2): rounds over the keys. A round takes each key out and puts
// it back by the group that then sets the fewest new bits.
//
// Unlike in the paper a round has noise: a random cost in bits is added to each group of a key. Keys sometimes take a
// worse group, which lets the search leave a local optimum. The noise falls from round to round and is 0 in the last.
// docs/families/twochoice.md has measurements of its effect.
//
// A search belongs to one goroutine. Its loops are marked norace: the race detector would make tests take minutes.
type search struct {
	geometry
	positions []uint32 // choices·k of each key
	chosen    []uint8  // group of each key, or none
	counts    []uint8  // how many chosen positions lie on each bit
	ones      int      // counts that are not 0
}

// none is the group of a key that is taken out.
const none = 0xff

// full is the largest count. A count that reaches it never changes again, and its bit stays set, because the number of
// keys on the bit is no longer known.
const full = 0xff

// layOut fills s for a shard, with all keys out.
//
//go:norace
func (s *search) layOut(g geometry, keys []filter.Hash) {
	s.geometry = g
	s.positions = bitvec.Resized(s.positions, len(keys)*g.choices*g.k)
	s.chosen, s.counts, s.ones = bitvec.Resized(s.chosen, len(keys)), bitvec.Resized(s.counts, int(g.bits)), 0
	clear(s.counts)
	rest := s.positions
	for i, h := range keys {
		s.chosen[i] = none
		for j := range g.choices {
			w := g.walkGroup(h, j)
			for l := range g.k {
				rest[l] = uint32(g.nextPosition(&w))
			}
			rest = rest[g.k:]
		}
	}
}

// groupPositions returns the positions of a group of a key.
func (s *search) groupPositions(key, j int) []uint32 {
	return s.positions[(key*s.choices+j)*s.k:][:s.k]
}

// takeOut removes a key. It has no branch on counts, which would be mispredicted half of the time.
//
//go:norace
func (s *search) takeOut(key int) {
	if s.chosen[key] == none {
		return
	}
	counts, emptied := s.counts, uint32(0)
	for _, at := range s.groupPositions(key, int(s.chosen[key])) {
		n := uint32(counts[at]) // at least 1
		emptied += isZero(n - 1)
		counts[at] = uint8(n - 1 + isZero(n-full))
	}
	s.ones -= int(emptied)
	s.chosen[key] = none
}

// putInGroup adds a key, which is out, by group j.
//
//go:norace
func (s *search) putInGroup(key, j int) {
	counts, filled := s.counts, uint32(0)
	for _, at := range s.groupPositions(key, j) {
		n := uint32(counts[at])
		filled += isZero(n)
		counts[at] = uint8(n + 1 - isZero(n-full))
	}
	s.ones += int(filled)
	s.chosen[key] = uint8(j)
}

// isZero returns 1 if n is 0, else 0, without a branch. n is a count, or a count minus 1 or minus full, which wraps
// around.
func isZero(n uint32) uint32 { return (n&0x7fffffff - 1) >> 31 }

// searchRound takes each key out and puts it back. noise is in bits; below 1 it only breaks ties.
//
//go:norace
func (s *search) searchRound(noise float64, rnd *anneal.Random) {
	amplitude := uint64(max(noise, least) * unit)
	for key := range s.chosen {
		s.takeOut(key)
		s.putInGroup(key, s.cheapest(key, amplitude, rnd))
	}
}

const (
	unit  = 1 << 16     // a bit, in costs
	least = 1 - 1./unit // noise that only breaks ties
)

// cheapest returns the group that sets the fewest new bits for a key that is out, with noise below an amplitude.
//
//go:norace
func (s *search) cheapest(key int, amplitude uint64, rnd *anneal.Random) int {
	best, lowest := 0, uint64(math.MaxUint64)
	for j := range s.choices {
		fresh := uint32(0)
		for _, at := range s.groupPositions(key, j) {
			fresh += isZero(uint32(s.counts[at]))
		}
		// The noise is a random 32-bit fraction of the amplitude.
		if cost := uint64(fresh)*unit + rnd.Next()>>32*amplitude>>32; cost < lowest {
			best, lowest = j, cost
		}
	}
	return best
}

// putInRest puts each key in that is out.
func (s *search) putInRest(rnd *anneal.Random) {
	for key, j := range s.chosen {
		if j == none {
			s.putInGroup(key, s.cheapest(key, unit-1, rnd))
		}
	}
}

// followFilter adds each key that f contains by its first group whose bits f has.
func (s *search) followFilter(f *Filter, start uint64, keys []filter.Hash) {
	for i, h := range keys {
		for j := range s.choices {
			if f.covers(start, f.walkGroup(h, j)) {
				s.putInGroup(i, j)
				break
			}
		}
	}
}

// patience is the number of rounds without a gain after which a greedy search ends.
const patience = 5

// resume is the share of the schedule that a search skips if it starts from an earlier one: the noise of those rounds
// would undo the progress of the earlier search.
const resume = 0.4

// searchRounds makes the rounds of a search. If greedy is true, it is the search of the paper: without noise, until
// several rounds gain nothing. If again is true, it starts from the chosen groups and keeps them if it finds nothing
// better.
func (s *search) searchRounds(part *anneal.Part, rnd *anneal.Random, greedy, again bool) {
	from, before := 0.0, s.ones
	var kept []uint8
	if again {
		from, kept = resume, append(kept, s.chosen...)
		for _, j := range kept {
			if j == none { // a new key: nothing to return to
				kept = nil
				break
			}
		}
	}

	fewest, idle := math.MaxInt, 0
	rate := func() float64 { return s.shardRate(float64(s.ones)/float64(s.bits), float64(len(s.chosen))) }
	part.Loop(rate, func(at float64) bool {
		noise := 0.0
		if !greedy {
			noise = math.Sqrt(float64(s.k)) * (1 - from) * (1 - at)
		}
		s.searchRound(noise, rnd)
		if idle++; s.ones < fewest {
			fewest, idle = s.ones, 0
		}
		return !greedy || idle < patience
	})
	if kept != nil && s.ones > before {
		for key, j := range kept {
			s.takeOut(key)
			s.putInGroup(key, int(j))
		}
	}
}

// searchShard searches one shard.
func (s *search) searchShard(g geometry, shard uint64, keys []filter.Hash, part *anneal.Part, c Config) {
	s.layOut(g, keys)
	if c.From != nil {
		s.followFilter(c.From, shard*g.bits, keys)
	}
	rnd := anneal.Random(shard * 0x9E3779B97F4A7C15) // by shard, so that the number of workers does not matter
	if c.Effort.Level == filter.Keep {
		s.putInRest(&rnd)
		part.Advance(1)
		return
	}
	s.searchRounds(part, &rnd, c.Greedy, c.From != nil)
}

// storeShard sets the bits of a shard.
func (s *search) storeShard(f *Filter, shard uint64) {
	start := shard * f.bits
	for at, n := range s.counts {
		if n > 0 {
			b := start + uint64(at)
			f.words[b/64] |= 1 << (b % 64)
		}
	}
}
