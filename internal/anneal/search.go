package anneal

import (
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/internal/kernel"
)

// maxNoise is the largest noise. maxSize is the largest number of keys of a group for which the sum of points and noise
// fits a byte.
const (
	maxNoise = 15
	maxSize  = (255 - maxNoise) / maxPoints
)

// noise returns the amplitude of the noise, 0 to maxNoise, after a share done, in [0, 1], of a search of the given
// number of passes: amplitude·(1-done)^power. A search of hundreds of passes spends most of them where the noise
// decides between points that differ by 8; a short search must begin above that. With Choices, a group is one key,
// whose bits count more. docs/families/partitioned.md lists the trials.
func (g Geometry) noise(done float64, passes int) int {
	amplitude, power := 12.0, 0.5
	if g.Choices != 0 {
		amplitude, power = maxNoise, 0.6
	} else if passes >= 300 {
		amplitude, power = 10, 0.3
	}
	return int(math.Round(amplitude * math.Pow(1-min(done, 1), power)))
}

// Random is wyrand, a generator of 64-bit numbers: a counter, and the folded product of two functions of the counter.
type Random uint64

// Next returns 64 random bits.
//
//go:norace
func (r *Random) Next() uint64 {
	*r += 0xa0761d6478bd642f
	h, l := bits.Mul64(uint64(*r), uint64(*r)^0xe7037ed1a0b428db)
	return h ^ l
}

// First selects a shift for each slot once, given the slots before it. A search calls it first after Reset.
func (s *State) First(rnd *Random) { s.passSlots(0, rnd, false) }

// Pass takes each slot of each group away once and selects its shift again, with noise below the amplitude.
func (s *State) Pass(noise int, rnd *Random) { s.passSlots(uint64(noise), rnd, true) }

//go:norace
func (s *State) passSlots(noise uint64, rnd *Random, again bool) {
	var start [4]uint64
	for j := range len(s.starts) - 1 {
		if s.starts[j] == s.starts[j+1] { // a group without keys keeps its shifts
			continue
		}
		for l := range s.K {
			pos := s.slotPositions(j, l)
			shift := &s.Shifts[j*s.K+l]
			if again {
				s.mapCells(pos, *shift, &less)
			}
			if noise > 0 {
				a, b := rnd.Next(), rnd.Next() // 32 half bytes: one per shift
				start[0] = bytesBelow(noise, a) & s.all[0]
				start[1] = bytesBelow(noise, a>>4) & s.all[1]
				start[2] = bytesBelow(noise, b) & s.all[2]
				start[3] = bytesBelow(noise, b>>4) & s.all[3]
			}
			*shift = randomBit(s.bestShifts(pos, &start), rnd.Next())
			s.mapCells(pos, *shift, &more)
		}
	}
}

// bytesBelow returns eight bytes below n, which is at most 16, from the lower halves of eight random bytes.
func bytesBelow(n, random uint64) uint64 {
	const lower = 0x0f0f0f0f0f0f0f0f
	return random & lower * n >> 4 & lower // no product reaches 256
}

// bestShifts returns the shifts with the highest score as bits. The score of a shift is the points of all keys plus the
// shift's byte of start.
//
//go:norace
func (s *State) bestShifts(pos []uint32, start *[4]uint64) uint32 {
	if len(pos) > maxSize {
		return s.bestShiftsPlain(pos, start)
	}
	return kernel.BestLanes(s.cells, pos, start, &s.keep) & (1<<s.shiftCount() - 1)
}

// bestShiftsPlain is the specification of bestShifts for groups of any size: it scores one shift after the other.
//
//go:norace
func (s *State) bestShiftsPlain(pos []uint32, start *[4]uint64) (best uint32) {
	var top uint64
	for c := range s.shiftCount() {
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

// randomBit returns one of the set bits of best, chosen by the random r. best is not 0.
func randomBit(best uint32, r uint64) uint8 {
	turn := int(r & 31) // rotate by a random amount, and take the lowest bit
	return uint8((bits.TrailingZeros32(bits.RotateLeft32(best, -turn)) + turn) & 31)
}
