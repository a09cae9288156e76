package blockpartitioned

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
)

// searcher is the state of a worker.
type searcher struct {
	f     *Filter
	from  *Filter // or nil
	pace  *anneal.Pace
	sizes []uint32
	state anneal.State
}

// searchStretch searches the blocks of some keys, which are in the order of their blocks.
func (s *searcher) searchStretch(keys []filter.Hash) error {
	part := s.pace.Take(uint64(len(keys)))
	for done := 0; done < len(keys); {
		block, _ := s.f.blockAndGroup(keys[done])

		end := done + 1
		for end < len(keys) {
			if next, _ := s.f.blockAndGroup(keys[end]); next != block {
				break
			}
			end++
		}
		if stopped, keep := s.pace.Stopped(); stopped && !keep {
			return nil // the filter is not kept
		}

		s.searchBlock(block, keys[done:end], part)
		if err := anneal.Verify(s.f, keys[done:end]); err != nil {
			return err
		}
		done = end
		part.Advance(float64(done) / float64(len(keys)))
	}
	return nil
}

// layOut fills the state for the keys of a block, which are in the order of their groups. It is marked norace, as are
// the functions that it calls for every key and slot.
//
//go:norace
func (s *searcher) layOut(keys []filter.Hash) {
	f := s.f
	clear(s.sizes)
	for _, h := range keys {
		_, group := f.blockAndGroup(h)
		s.sizes[group]++
	}

	s.state.Reset(anneal.Geometry{Bits: f.bits, K: f.k, Width: f.width, Words: true}, s.sizes)
	for j := range s.sizes {
		pos, size := s.state.Positions(j), s.state.Size(j)
		for i, h := range keys[:size] {
			for l := range f.k {
				pos[l*size+i] = anneal.Twice(f.query.Position(h.Lo, l))
			}
		}
		keys = keys[size:]
	}
}

// crowded is the number of (key, slot) pairs per bit beyond which a block is not searched: almost every query finds all
// bits of such a block set.
const crowded = 8

// searchBlock searches one block and writes its bits and shifts to the filter.
func (s *searcher) searchBlock(block uint64, keys []filter.Hash, part *anneal.Part) {
	f := s.f
	s.layOut(keys)
	rnd := anneal.Random(block * 0x9E3779B97F4A7C15) // by block, so that the number of workers does not matter
	if uint64(len(keys)*f.k) > crowded*f.bits && !s.pace.Keeps() {
		s.state.Fill(&rnd)
	} else {
		if s.from != nil {
			for i := range s.state.Shifts {
				s.state.Shifts[i] = uint8(s.from.shiftOf(block, 0, i))
			}
		}
		part.RunSmall(&s.state, &rnd, len(keys), s.from != nil)
	}

	s.state.Store(f.words, block*f.block+f.first)
	s.state.StoreShifts(f.words, block*f.block)
}
