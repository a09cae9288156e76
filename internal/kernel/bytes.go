package kernel

import (
	"encoding/binary"
	"math/bits"

	"github.com/bloomery/bloomery/internal/probe"
)

// HasIn is like Has, but queries the given block instead of the words of b. The block is in little-endian order, as in
// files, at any alignment. lo selects the bits. It panics if block is shorter than a block of b.
func (b *Blocks) HasIn(block []byte, lo uint64) bool {
	if b.k == 0 {
		block = block[:32]
	} else {
		block = block[:64]
	}
	if b.how == byLine || b.how == bySplit {
		return b.hasInVector(block, lo)
	}
	return b.hasInGo(block, lo)
}

// hasInGo is HasIn in Go. It branches once after a round of probes, because a branch per probe would be mispredicted
// once for each absent key.
func (b *Blocks) hasInGo(block []byte, lo uint64) bool {
	if b.k == 0 {
		all := uint32(1)
		for i, salt := range SplitSalts {
			all &= binary.LittleEndian.Uint32(block[4*i:]) >> (uint32(lo) * salt >> 27)
		}
		return all != 0
	}

	line := (*[64]byte)(block)
	x, k := lo, int(b.k)
	for round := uint64(1); k > LineProbes; round++ {
		if !hasProbes(line, x, LineProbes) {
			return false
		}
		x = probe.Remix(lo, round)
		k -= LineProbes
	}
	return hasProbes(line, x, k)
}

// hasProbes reports whether the bits of the first k probes that x yields are set.
func hasProbes(line *[64]byte, x uint64, k int) bool {
	all := byte(1)
	for range k {
		all &= line[x>>61<<3|x>>3&7] >> (x & 7)
		x = bits.RotateLeft64(x, 9)
	}
	return all != 0
}

// HasIn is like Has, but queries the given block instead of the words of s. The block is in little-endian order, as in
// files, at any alignment. rest selects the group: it is the low half of hi times the number of blocks. It panics if
// block is shorter than a block of s.
func (s *Slots) HasIn(block []byte, rest, lo uint64) bool {
	block = block[:s.block/8]
	if s.how != byGo {
		return s.hasInVector(block, rest, lo)
	}
	return s.hasInGo(block, rest, lo)
}

// hasInGo is HasIn in Go. It branches once after a round of slots.
func (s *Slots) hasInGo(block []byte, rest, lo uint64) bool {
	group, _ := bits.Mul64(rest, s.groups)
	payload, size := block[s.start/8:], s.bits
	width, mask := s.width&63, s.mask[0]
	at := group * s.side
	for l := 0; l < s.k; l += SlotRound {
		x := slotHalf(lo, l/SlotRound)
		shifts := binary.LittleEndian.Uint64(block[at/8:]) >> (at % 8) // eight shifts have at most 57 bits
		all := uint32(1)
		for _, salt := range SplitSalts[:min(SlotRound, s.k-l)] {
			u := slotAt(x*salt, size)
			all &= binary.LittleEndian.Uint32(payload[u/32*4:]) >> ((uint32(u) + uint32(shifts)&mask) & 31)
			shifts >>= width
		}
		if all == 0 {
			return false
		}
		at += s.next
	}
	return true
}
