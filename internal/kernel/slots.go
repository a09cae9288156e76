package kernel

import (
	"math/bits"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// SlotRound is the number of slots whose base positions follow from the same 32 bits of a hash.
const SlotRound = 8

// Slots answers queries of blocks that contain shifts: whether the bits of all slots of a key are set. Package
// blockpartitioned describes the layout; hasPlain is the specification.
type Slots struct {
	// The assembly depends on the order of these fields.
	words  []uint64
	blocks uint64
	groups uint64
	side   uint64    // bits of the shifts of a group
	how    uint64    // the code that answers
	next   uint64    // bits of the shifts of a round
	need   [2]uint64 // bit sets of the slots of the first two rounds

	salts  [8]uint32 // one lane of 32 bits per slot: multipliers
	size   [8]uint32 // bits that slots lead to
	first  [8]uint32 // 32-bit word of a block at which these bits start
	shift0 [4]uint64 // bits at which the shifts of slots 0, 1, 4 and 5 start
	shift1 [4]uint64 // and the shifts of slots 2, 3, 6 and 7
	mask   [8]uint32 // the bits of a shift
	turn   [8]uint32 // 31

	// Fields of the code in Go.
	block uint64 // bits of a block
	start uint64 // first bit of a block that slots lead to
	bits  uint64 // number of these bits
	k     int
	width uint64
}

// The values of Slots.how besides byGo.
const (
	byRound  = 1 // lines of 512 bits, at most 8 slots
	byRounds = 2 // lines of 512 bits, at most 16 slots
)

// NewSlots returns the kernel for blocks of block bits, 512 or 1024, in words. A block starts with groups of k shifts
// of width bits, the shifts of a group side by side. Slots lead to the last size bits of the block, a multiple of 32.
// Eight shifts have at most 57 bits. NewSlots keeps words.
func NewSlots(words []uint64, block, groups, size uint64, k, width int) *Slots {
	s := &Slots{
		words: words, blocks: uint64(len(words)) * 64 / block, groups: groups,
		side: uint64(k * width), next: uint64(SlotRound * width),
		salts: SplitSalts, block: block, start: block - size, bits: size, k: k, width: uint64(width),
	}

	for l := range SlotRound {
		s.size[l], s.first[l], s.mask[l], s.turn[l] = uint32(size), uint32(s.start/32), 1<<width-1, 31
	}

	for i, l := range [4]int{0, 1, 4, 5} {
		s.shift0[i], s.shift1[i] = uint64(l*width), uint64((l+2)*width)
	}

	for round := range s.need {
		s.need[round] = 1<<max(0, min(SlotRound, k-SlotRound*round)) - 1
	}

	switch {
	case !Vector || block != 512 || k > 2*SlotRound:
	case k <= SlotRound:
		s.how = byRound
	default:
		s.how = byRounds
	}
	return s
}

// Position returns the base position of slot l, below size. Slots 0 to 7 use the low half x of lo, slots 8 to 15 the
// high half, and later ones lo mixed again: ⌊⌊x·salt mod 2^32 / 2^16⌋·size / 2^16⌋.
//
//go:norace
func (s *Slots) Position(lo uint64, l int) uint32 {
	return uint32(slotAt(slotHalf(lo, l/SlotRound)*SplitSalts[l%SlotRound], s.bits))
}

//go:norace
func slotAt(x uint32, size uint64) uint64 { return uint64(x>>16) * size >> 16 }

// slotHalf returns the 32 bits that give the base positions of a round.
//
//go:norace
func slotHalf(lo uint64, round int) uint32 {
	if round >= 2 {
		lo = probe.Remix(lo, uint64(round/2))
	}
	return uint32(lo >> (round % 2 * 32))
}

// hasPlain specifies Has, for slot l and later slots.
func (s *Slots) hasPlain(hi, lo uint64, l int) bool {
	block, rest := bits.Mul64(hi, s.blocks)
	group, _ := bits.Mul64(rest, s.groups)
	for ; l < s.k; l++ {
		shift := bitvec.Load57(s.words, block*s.block+group*s.side+uint64(l)*s.width) & (1<<s.width - 1)
		u := uint64(s.Position(lo, l))
		b := block*s.block + s.start + u&^31 + (u+shift)&31
		if s.words[b/64]>>(b%64)&1 == 0 {
			return false
		}
	}
	return true
}

// hasGo is Has in Go. It branches once after four slots, because a branch per slot would be mispredicted once for each
// absent key.
func (s *Slots) hasGo(hi, lo uint64) bool {
	if s.k < 4 {
		return s.hasPlain(hi, lo, 0)
	}

	block, rest := bits.Mul64(hi, s.blocks)
	group, _ := bits.Mul64(rest, s.groups)
	start := block * s.block
	words, size, width, mask, k := s.words, s.bits, s.width&63, uint64(s.mask[0]), s.k
	shifts, x := bitvec.Load57(words, start+group*s.side), uint32(lo)
	start += s.start
	all := slotBit(words, start, size, x*salt0, shifts&mask)
	shifts >>= width
	all &= slotBit(words, start, size, x*salt1, shifts&mask)
	shifts >>= width
	all &= slotBit(words, start, size, x*salt2, shifts&mask)
	shifts >>= width
	all &= slotBit(words, start, size, x*salt3, shifts&mask)
	if all&1 == 0 || k == 4 {
		return all&1 != 0
	}

	shifts >>= width
	all = slotBit(words, start, size, x*salt4, shifts&mask)
	if k > 5 {
		shifts >>= width
		all &= slotBit(words, start, size, x*salt5, shifts&mask)
		if k > 6 {
			shifts >>= width
			all &= slotBit(words, start, size, x*salt6, shifts&mask)
			if k > 7 {
				shifts >>= width
				all &= slotBit(words, start, size, x*salt7, shifts&mask)
			}
		}
	}

	if k <= SlotRound || all&1 == 0 {
		return all&1 != 0
	}
	return s.hasPlain(hi, lo, SlotRound)
}

// slotBit returns a word whose lowest bit is the bit of a slot; x is the hash times the salt.
func slotBit(words []uint64, start, size uint64, x uint32, shift uint64) uint32 {
	u := slotAt(x, size)
	return bitvec.Word32(words, (start+u)>>5) >> ((u + shift) & 31)
}
