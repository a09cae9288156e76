// Package anneal contains the common parts of the builders of families that search: the loop that builds a filter until
// it keeps its rate, the division of a search among workers and time, and the search of the partitioned families.
//
// This search selects a shift for each slot of each group of keys so that all keys together set few bits. A group has k
// slots. Slot l of key x has a fixed base position u_l(x), and the key sets bit u_l(x) + shift, with one shift for all
// keys of the group. A shift earns points for each key whose bit other keys set as well. All shifts are compared at
// once, because their bits are adjacent (kernel.BestLanes). A pass takes each slot away and selects its shift again.
// Noise that falls from pass to pass is added to the points: simulated annealing.
//
//	build.go    the loop: gather, size, search, and again until the rate is kept
//	config.go   the common parameters of families with a search, and the length of a search
//	forecast.go the rate that a search will reach, and the bits that a rate needs
//	pace.go     the division among workers and time
//	part.go     the schedule of one part
//	state.go    which keys set which bits
//	search.go   the passes and their noise
package anneal

import (
	"cmp"
	"math"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/kernel"
)

// MaxWidth is the largest number of bits of a shift: kernel.BestLanes looks at 2^MaxWidth bits.
const MaxWidth = 5

// Geometry describes the sizes of a State.
type Geometry struct {
	Bits  uint64 // bits of the bitmap, below 2^31
	K     int
	Width int // bits of a shift, 0 to MaxWidth
	// Choices is the number of shifts; 0 means 2^Width.
	Choices int
	// Without Words the last base position plus the largest shift is the last bit. With Words all bits are base
	// positions, and each shift leads to a bit of the 32-bit word of the base position: bit (u + shift) mod 32 of word
	// u/32 instead of bit u + shift. Bits is then a multiple of 32.
	Words bool
}

// shiftCount returns the number of shifts.
func (g Geometry) shiftCount() int { return cmp.Or(g.Choices, 1<<g.Width) }

// State is the state of a search: the shifts of all groups, and the number of (key, slot) pairs that set each bit.
//
//	keys of group j      [starts[j], starts[j+1])
//	base positions       pos[starts[j]·K + l·size + i] of key i of the group, slot l: slot after slot
//	shift of slot l      Shifts[j·K + l]
//	cells                a byte per bit: see cell. With Words, the 32 bytes of a word are there twice in a row, so that
//	                     32 cells from any of the first 32 on are the cells of all shifts; pos counts cells, not bits
//
// A State belongs to one goroutine. Loops over keys are marked norace: with the race detector a search takes forty
// times as long.
type State struct {
	Geometry
	Shifts []uint8
	FPR    func(fill float64) float64 // the rate of a share of set bits; nil means fill^K
	starts []uint32
	pos    []uint32
	cells  []byte
	all    [4]uint64 // a byte per shift: all bits if the shift exists, else 0
	keep   [4]uint64 // a byte per shift: the bits of a cell that are points if the shift exists, else 0
}

// cellOf returns the byte for a bit with a number of owners, the pairs that set it: this number in the upper five bits,
// and the points of the bit in the lower three. 31 means 31 or more, and never changes: such a bit is never freed.
func cellOf(owners int) uint8 {
	const lonely, shared = 4, 5 // a bit with one owner may still be freed
	switch owners {
	case 0:
		return 0
	case 1:
		return 1<<3 | lonely
	}
	return uint8(owners<<3 | shared)
}

const (
	maxOwners = 31
	maxPoints = 5
	points    = 7 // a mask of the bits of a cell that are its points
)

// more and less map each cell to the cell with one more and one fewer owner.
var more, less = func() (more, less [256]uint8) {
	for n := range maxOwners {
		more[cellOf(n)], less[cellOf(n+1)] = cellOf(n+1), cellOf(n)
	}
	more[cellOf(maxOwners)], less[cellOf(maxOwners)] = cellOf(maxOwners), cellOf(maxOwners)
	return more, less
}()

// Reset makes s a state of the geometry; sizes are the numbers of keys of the groups. All shifts are 0 and no bit is
// set. The caller must then set all base positions. Reset reuses the memory of s.
func (s *State) Reset(geometry Geometry, sizes []uint32) {
	s.Geometry = geometry
	s.starts = bitvec.Resized(s.starts, len(sizes)+1)
	s.starts[0] = 0
	for j, n := range sizes {
		s.starts[j+1] = s.starts[j] + n
	}

	s.pos = bitvec.Resized(s.pos, int(s.starts[len(sizes)])*geometry.K)
	s.Shifts = bitvec.Resized(s.Shifts, len(sizes)*geometry.K)
	cells := geometry.Bits + kernel.Lanes // BestLanes reads the cells of all lanes, even if Width has fewer shifts
	if geometry.Words {
		cells = 2 * geometry.Bits
	}

	s.cells = bitvec.Resized(s.cells, int(cells))
	clear(s.Shifts)
	clear(s.cells)
	s.all, s.keep = [4]uint64{}, [4]uint64{}
	for c := range geometry.shiftCount() {
		s.all[c/8] |= 255 << (c % 8 * 8)
		s.keep[c/8] |= points << (c % 8 * 8)
	}
}

// Size returns the number of keys in a group.
func (s *State) Size(j int) int { return int(s.starts[j+1] - s.starts[j]) }

// Positions returns the base positions of a group, for the caller to set: the position of key i in slot l is element
// l·Size(j) + i. With Words, position u is stored as Twice(u).
func (s *State) Positions(j int) []uint32 {
	return s.pos[int(s.starts[j])*s.K : int(s.starts[j+1])*s.K]
}

// slotPositions returns the base positions of a slot.
//
//go:norace
func (s *State) slotPositions(j, l int) []uint32 {
	size := s.Size(j)
	return s.pos[int(s.starts[j])*s.K+l*size:][:size]
}

// Open is a shift that is not chosen yet.
const Open = 0xff

// Fill sets the bits of all keys with the present shifts, then chooses the shifts that are Open, one after the other.
// No bit may be set before the call.
func (s *State) Fill(rnd *Random) {
	for _, open := range []bool{false, true} {
		for j := range len(s.starts) - 1 {
			for l := range s.K {
				pos, shift := s.slotPositions(j, l), &s.Shifts[j*s.K+l]
				if (*shift == Open) != open {
					continue
				}
				if open {
					*shift = randomBit(s.bestShifts(pos, &[4]uint64{}), rnd.Next())
				}
				s.mapCells(pos, *shift, &more)
			}
		}
	}
}

// Twice returns the first cell of bit u with Words.
func Twice(u uint32) uint32 { return u + u&^31 }

// mapCells maps the cells of a slot's bits with a table that adds or removes one owner. It has no branch on cells,
// which would be mispredicted half of the time.
//
//go:norace
func (s *State) mapCells(pos []uint32, shift uint8, to *[256]uint8) {
	if s.Words {
		kernel.MapBytesTwice(s.cells, pos, uint32(shift), to)
	} else {
		kernel.MapBytes(s.cells, pos, uint32(shift), to)
	}
}

// isSet reports whether a bit is set.
//
//go:norace
func (s *State) isSet(bit uint64) bool {
	if s.Words {
		bit = uint64(Twice(uint32(bit)))
	}
	return s.cells[bit] != 0
}

// Ones returns the number of set bits.
//
//go:norace
func (s *State) Ones() (n uint64) {
	for b := range s.Bits {
		if s.isSet(b) {
			n++
		}
	}
	return n
}

// Rate returns the rate of the present share of set bits.
func (s *State) Rate() float64 {
	fill := float64(s.Ones()) / float64(s.Bits)
	if s.FPR != nil {
		return s.FPR(fill)
	}
	return math.Pow(fill, float64(s.K))
}

// Store sets the bits of words, from bit at on, that are set in s.
func (s *State) Store(words []uint64, at uint64) {
	for b := range s.Bits {
		if s.isSet(b) {
			words[(at+b)/64] |= 1 << ((at + b) % 64)
		}
	}
}

// StoreShifts writes the shifts, Width bits each, to words from bit at on.
func (s *State) StoreShifts(words []uint64, at uint64) {
	if s.Width == 0 {
		return
	}
	for i, shift := range s.Shifts {
		bitvec.SetField(words, at+uint64(i*s.Width), uint(s.Width), uint64(shift))
	}
}
