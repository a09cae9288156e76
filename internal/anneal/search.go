package anneal

import (
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/internal/kernel"
)

// maxNoise bounds the noise. maxSize is the largest number of keys of a group for which points and noise fit into a
// byte.
const (
	maxNoise = 15
	maxSize  = (255 - maxNoise) / maxPoints
)

// Noise returns the amplitude of the noise, 0 to maxNoise, after a share done, in [0, 1], of a search of that many
// passes: amplitude·(1-done)^power. A search of hundreds of passes spends most of them where the noise decides between
// points 8 apart; a short one has to begin above that. docs/families/partitioned.md has the trials.
func Noise(done float64, passes int) int {
	amplitude, power := 12.0, 0.5
	if passes >= 300 {
		amplitude, power = 10, 0.3
	}
	return int(math.Round(amplitude * math.Pow(1-min(done, 1), power)))
}

// Random is a generator of 64-bit numbers, wyrand: a counter, and the folded product of two functions of it.
type Random uint64

// Next returns 64 random bits.
//
//go:norace
func (r *Random) Next() uint64 {
	*r += 0xa0761d6478bd642f
	h, l := bits.Mul64(uint64(*r), uint64(*r)^0xe7037ed1a0b428db)
	return h ^ l
}

// First selects a shift for each slot once, given those before it. A search begins with it after Reset.
func (s *State) First(rnd *Random) { s.pass(0, rnd, false) }

// Pass takes each slot of each group away once and selects its shift again, with noise below the amplitude.
func (s *State) Pass(noise int, rnd *Random) { s.pass(uint64(noise), rnd, true) }

//go:norace
func (s *State) pass(noise uint64, rnd *Random, again bool) {
	var start [4]uint64
	for j := range len(s.starts) - 1 {
		if s.starts[j] == s.starts[j+1] {
			continue
		}
		for l := range s.K {
			pos := s.slot(j, l)
			shift := &s.Shifts[j*s.K+l]
			if again {
				s.move(pos, *shift, &less)
			}
			if noise > 0 {
				a, b := rnd.Next(), rnd.Next()
				start[0] = below(noise, a) & s.all[0]
				start[1] = below(noise, a>>4) & s.all[1]
				start[2] = below(noise, b) & s.all[2]
				start[3] = below(noise, b>>4) & s.all[3]
			}
			*shift = oneOf(s.best(pos, &start), rnd.Next())
			s.move(pos, *shift, &more)
		}
	}
}

// below returns eight bytes below n, which is at most 16, from the lower halves of eight random ones.
func below(n, random uint64) uint64 {
	const lower = 0x0f0f0f0f0f0f0f0f
	return random & lower * n >> 4 & lower // no product reaches 256
}

// best returns the shifts with the highest score as bits. A score is the points of all keys plus the shift's byte of
// start.
//
//go:norace
func (s *State) best(pos []uint32, start *[4]uint64) uint32 {
	if len(pos) > maxSize {
		return s.bestPlain(pos, start)
	}
	return kernel.BestLanes(s.cells, pos, start, &s.keep) & (1<<(1<<s.Width) - 1)
}

// bestPlain is the specification of best for groups of any size: it scores one shift after the other.
//
//go:norace
func (s *State) bestPlain(pos []uint32, start *[4]uint64) (best uint32) {
	var top uint64
	for c := range 1 << s.Width {
		score := start[c/8] >> (c % 8 * 8) & 255
		for _, u := range pos {
			score += uint64(s.cells[int(u)+c] & points)
		}
		if score > top {
			best, top = 0, score
		}
		if score == top {
			best |= 1 << c
		}
	}
	return best
}

// oneOf returns one of the set bits of best, chosen by the random r. best is not 0.
func oneOf(best uint32, r uint64) uint8 {
	turn := int(r & 31)
	return uint8((bits.TrailingZeros32(bits.RotateLeft32(best, -turn)) + turn) & 31)
}
