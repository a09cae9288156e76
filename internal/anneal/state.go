// Package anneal is the search that partitioned filters share: it picks a shift for every slot of every group of keys so
// that all keys together set few bits.
//
// A group has k slots. Slot l of key x has a base position u_l(x) that nobody chooses, and the bit that the key sets is
// u_l(x) + shift, one shift for all keys of the group. A shift earns points for every key whose bit is set by others
// already; the best of all shifts are found at once, since their bits lie side by side (kernel.BestLanes). Passes take
// every slot away and select it anew, with noise added to the points that falls from pass to pass: simulated annealing.
//
//	state.go    which keys set which bits, and what moves them
//	search.go   the passes and their noise
package anneal

import (
	"math"

	"github.com/bloomery/bloomery/internal/kernel"
)

// MaxWidth is the largest number of bits of a shift: kernel.BestLanes looks at 2^MaxWidth bits.
const MaxWidth = 5

// Shape is what a State is made for.
type Shape struct {
	Bits  uint64 // of the bitmap, below 2^31
	K     int
	Width int // bits of a shift, 0 to MaxWidth
	// Words has every shift lead to a bit of the 32-bit word of the base position: bit (u + shift) mod 32 of word u/32
	// instead of bit u + shift. Bits is then a multiple of 32.
	Words bool
}

// Base returns the number of base positions: all, or so many that the largest shift leads from the last of them to the
// last bit.
func (s Shape) Base() uint64 {
	if s.Words {
		return s.Bits
	}
	return s.Bits - (1<<s.Width - 1)
}

// State is what a search moves: the shifts of all groups, and how many (key, slot) pairs set each bit.
//
//	keys of group j      [starts[j], starts[j+1])
//	base positions       pos[starts[j]·K + l·size + i] of key i of the group, slot l: slot after slot
//	shift of slot l      Shifts[j·K + l]
//	cells                a byte a bit: see cell. With Words, the 32 of a word stand there twice in a row, so that 32 cells
//	                     from any of the first ones on are those of all shifts; pos counts cells, not bits
//
// A State belongs to one goroutine. What loops over keys is marked norace: with the race detector's bookkeeping a search
// takes forty times as long.
type State struct {
	Shape
	Shifts []uint8
	starts []uint32
	pos    []uint32
	cells  []byte
	all    [4]uint64 // a byte a shift that there is: all of its bits
	keep   [4]uint64 // and those of them that hold points
}

// cell is the byte for a bit that so many pairs set: their number in the upper five bits and the points that the bit
// earns in the lower three. 31 stands for 31 and more, and stays: such a bit is never freed.
func cell(owners int) uint8 {
	const lonely, shared = 4, 5 // a bit with one owner is one that may still be freed
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
	points    = 7 // the bits of a cell that hold points
)

// one more and one less owner, for every cell.
var more, less = func() (more, less [256]uint8) {
	for n := range maxOwners {
		more[cell(n)], less[cell(n+1)] = cell(n+1), cell(n)
	}
	more[cell(maxOwners)], less[cell(maxOwners)] = cell(maxOwners), cell(maxOwners)
	return more, less
}()

// Reset makes s a state of the shape with that many keys in each group. All shifts are 0, no bit is set, and the caller
// has to give all base positions. It reuses the memory of s.
func (s *State) Reset(shape Shape, sizes []uint32) {
	s.Shape = shape
	s.starts = resize(s.starts, len(sizes)+1)
	s.starts[0] = 0
	for j, n := range sizes {
		s.starts[j+1] = s.starts[j] + n
	}
	s.pos = resize(s.pos, int(s.starts[len(sizes)])*shape.K)
	s.Shifts = resize(s.Shifts, len(sizes)*shape.K)
	cells := shape.Bits + kernel.Lanes
	if shape.Words {
		cells = 2 * shape.Bits
	}
	s.cells = resize(s.cells, int(cells))
	clear(s.Shifts)
	clear(s.cells)
	s.all, s.keep = [4]uint64{}, [4]uint64{}
	for c := range 1 << shape.Width {
		s.all[c/8] |= 255 << (c % 8 * 8)
		s.keep[c/8] |= points << (c % 8 * 8)
	}
}

// resize returns a slice of that length with whatever it holds.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Size returns the number of keys in a group.
func (s *State) Size(j int) int { return int(s.starts[j+1] - s.starts[j]) }

// Positions returns the base positions of a group, to be written: that of key i in slot l is number l·Size(j) + i. With
// Words, position u is written as Twice(u).
func (s *State) Positions(j int) []uint32 {
	return s.pos[int(s.starts[j])*s.K : int(s.starts[j+1])*s.K]
}

// slot returns the base positions of a slot.
//
//go:norace
func (s *State) slot(j, l int) []uint32 {
	size := s.Size(j)
	return s.pos[int(s.starts[j])*s.K+l*size:][:size]
}

// Fill sets the bits of all keys with the present shifts, where no bit is set before.
func (s *State) Fill() {
	for j := range len(s.starts) - 1 {
		for l := range s.K {
			s.move(s.slot(j, l), s.Shifts[j*s.K+l], &more)
		}
	}
}

// Twice returns the cell of bit u of a bitmap whose words stand there twice.
func Twice(u uint32) uint32 { return u + u&^31 }

// move takes the bits of a slot with a shift to the cells that a table names: one owner more or one less. Half of all
// branches on a bit would be mispredicted; there is none.
//
//go:norace
func (s *State) move(pos []uint32, shift uint8, to *[256]uint8) {
	if s.Words {
		kernel.MapBytesTwice(s.cells, pos, uint32(shift), to)
	} else {
		kernel.MapBytes(s.cells, pos, uint32(shift), to)
	}
}

// owned reports whether a bit is set.
//
//go:norace
func (s *State) owned(bit uint64) bool {
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
		if s.owned(b) {
			n++
		}
	}
	return n
}

// Rate returns f^K, f the share of bits that are set.
func (s *State) Rate() float64 { return math.Pow(float64(s.Ones())/float64(s.Bits), float64(s.K)) }

// Store sets those bits of words, from bit at on, that are set.
func (s *State) Store(words []uint64, at uint64) {
	for b := range s.Bits {
		if s.owned(b) {
			words[(at+b)/64] |= 1 << ((at + b) % 64)
		}
	}
}
