package twochoice

import (
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
)

// search is the offline solution of one shard (section 3.2): rounds over the keys, each of which takes a key out and puts
// it back by the group that then sets the fewest new bits.
//
// Beyond the paper a round has noise: every group of a key costs up to so many bits more, at random, and from round to round
// less. A key so goes a worse way now and then, and others follow it out of what is the best for each of them alone. In
// the last round there is none. See docs/twochoice.md for what that gains.
//
// Only one goroutine sees a search. Its loops are hidden from the race detector, which would make tests take minutes.
type search struct {
	geometry
	positions []uint32 // choices·k of each key
	chosen    []uint8  // group of each key, or none
	counts    []uint8  // how many chosen positions lie on each bit
	ones      int      // counts that are not 0
}

// none is the group of a key that is out.
const none = 0xff

// full is where a count stops for good: its bit stays set, whoever leaves it.
const full = 0xff

// layOut makes s the state of a shard whose keys are all out.
//
//go:norace
func (s *search) layOut(g geometry, keys []filter.Hash) {
	s.geometry = g
	s.positions = resized(s.positions, len(keys)*g.choices*g.k)
	s.chosen, s.counts, s.ones = resized(s.chosen, len(keys)), resized(s.counts, int(g.bits)), 0
	clear(s.counts)
	rest := s.positions
	for i, h := range keys {
		s.chosen[i] = none
		for j := range g.choices {
			w := g.walk(h, j)
			for l := range g.k {
				rest[l] = uint32(g.next(&w))
			}
			rest = rest[g.k:]
		}
	}
}

// resized returns a slice of n elements, the old one if it is large enough. Its content is arbitrary.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// group returns the positions of a group of a key.
func (s *search) group(key, j int) []uint32 {
	return s.positions[(key*s.choices+j)*s.k:][:s.k]
}

// takeOut removes a key. Which counts come to 0, and which are full, nobody foresees: so there is no branch on them.
//
//go:norace
func (s *search) takeOut(key int) {
	if s.chosen[key] == none {
		return
	}
	counts, emptied := s.counts, uint32(0)
	for _, at := range s.group(key, int(s.chosen[key])) {
		n := uint32(counts[at])
		emptied += isZero(n - 1)
		counts[at] = uint8(n - 1 + isZero(n-full))
	}
	s.ones -= int(emptied)
	s.chosen[key] = none
}

// putIn adds a key that is out by a group.
//
//go:norace
func (s *search) putIn(key, j int) {
	counts, filled := s.counts, uint32(0)
	for _, at := range s.group(key, j) {
		n := uint32(counts[at])
		filled += isZero(n)
		counts[at] = uint8(n + 1 - isZero(n-full))
	}
	s.ones += int(filled)
	s.chosen[key] = uint8(j)
}

// isZero returns 1 for 0 and 0 for all other numbers that counts give.
func isZero(n uint32) uint32 { return (n&0x7fffffff - 1) >> 31 }

// round takes every key out and puts it back. Noise is in bits; below 1 it only breaks ties.
//
//go:norace
func (s *search) round(noise float64, rnd *anneal.Random) {
	const unit = 1 << 16 // a bit
	amplitude := uint64(max(noise, 1-1./unit) * unit)
	counts := s.counts
	for key := range s.chosen {
		s.takeOut(key)
		best, least := 0, uint64(math.MaxUint64)
		for j := range s.choices {
			fresh := uint32(0)
			for _, at := range s.group(key, j) {
				fresh += isZero(uint32(counts[at]))
			}
			if cost := uint64(fresh)*unit + rnd.Next()>>32*amplitude>>32; cost < least {
				best, least = j, cost
			}
		}
		s.putIn(key, best)
	}
}

// follow puts every key that a filter covers in by the first group that covers it there.
func (s *search) follow(f *Filter, start uint64, keys []filter.Hash) {
	for i, h := range keys {
		for j := range s.choices {
			if f.covers(start, f.walk(h, j)) {
				s.putIn(i, j)
				break
			}
		}
	}
}

// patience is how many rounds without a gain end a greedy search.
const patience = 5

// resume is the share of the schedule that a search leaves out which goes on from another one: the rounds whose noise would
// wipe out what was reached.
const resume = 0.4

// run searches. Greedy is the paper's way, without noise and until nothing is gained for some rounds.
func (s *search) run(part *anneal.Part, rnd *anneal.Random, greedy, again bool) {
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
	part.Loop(func() float64 { return s.rate(float64(s.ones)/float64(s.bits), float64(len(s.chosen))) }, func(at float64) bool {
		noise := 0.0
		if !greedy {
			noise = math.Sqrt(float64(s.k)) * (1 - from) * (1 - at)
		}
		s.round(noise, rnd)
		if idle++; s.ones < fewest {
			fewest, idle = s.ones, 0
		}
		return !greedy || idle < patience
	})
	if kept != nil && s.ones > before {
		for key, j := range kept {
			s.takeOut(key)
			s.putIn(key, int(j))
		}
	}
}

// shard searches one shard of a Config.
func (s *search) shard(g geometry, shard uint64, keys []filter.Hash, part *anneal.Part, c Config) {
	s.layOut(g, keys)
	if c.From != nil {
		s.follow(c.From, shard*g.bits, keys)
	}
	rnd := anneal.Random(shard * 0x9E3779B97F4A7C15)
	s.run(part, &rnd, c.Greedy, c.From != nil)
}

// store sets the bits of a shard.
func (s *search) store(f *Filter, shard uint64) {
	start := shard * f.bits
	for at, n := range s.counts {
		if n > 0 {
			b := start + uint64(at)
			f.words[b/64] |= 1 << (b % 64)
		}
	}
}
