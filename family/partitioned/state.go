package partitioned

import (
	"encoding/binary"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// window is how many bits a search looks at from each base position on: as many as a slot has shifts at most.
const window = 32

// state is what a search moves: the shifts of the groups of one shard, and which bits they set.
//
//	keys of group j     [starts[j], starts[j+1])
//	base positions      pos[starts[j]·k + l·size + i] of key i of the group, slot l: slot after slot
//	bit of that key     base position + shifts[j·k + l]
//	once, twice         bit b is set if at least one, at least two (key, slot) pairs set it
//	count               how many do
//
// A state belongs to one goroutine. Its functions are marked norace: with the race detector's bookkeeping a search takes
// forty times as long.
//
// A bitmap ends in eight zero bytes, so that 64 bits may be read from any position.
type state struct {
	k          int
	candidates int    // shifts there are
	base       uint64 // base positions are below this
	starts     []uint32
	pos        []uint32
	shifts     []uint8
	once       []byte
	twice      []byte
	count      []uint8
}

// newState lays out the keys of a shard, which are those of groups [first, first+groups) in the order of their groups.
// All shifts are 0 and no bit is set.
//
//go:norace
func newState(g geometry, shard uint64, keys []filter.Hash) *state {
	n := uint64(len(keys))
	s := &state{
		k: g.k, candidates: 1 << g.width, base: g.base(),
		starts: make([]uint32, g.groups+1),
		pos:    make([]uint32, n*uint64(g.k)),
		shifts: make([]uint8, g.groups*uint64(g.k)),
		once:   make([]byte, g.bits/8+9),
		twice:  make([]byte, g.bits/8+9),
		count:  make([]uint8, g.bits+1),
	}
	first := shard * g.groups
	for _, h := range keys {
		s.starts[g.group(h)-first+1]++
	}
	for j := range g.groups {
		s.starts[j+1] += s.starts[j]
	}
	for j := range g.groups {
		part := keys[s.starts[j]:s.starts[j+1]]
		at := s.pos[uint64(s.starts[j])*uint64(g.k):]
		for i, h := range part {
			x, by := h.Lo, probe.Mixer(h)
			for l := range g.k {
				at[l*len(part)+i] = uint32(probe.Position(x, s.base))
				x = probe.Mix(x, by)
			}
		}
	}
	return s
}

// slot returns the base positions of slot l of group j.
//
//go:norace
func (s *state) slot(j, l int) []uint32 {
	first, size := int(s.starts[j]), int(s.starts[j+1]-s.starts[j])
	return s.pos[first*s.k+l*size:][:size]
}

// add sets the bits of a slot with a shift. It has no branches that depend on the bits: half of them would be
// mispredicted.
//
//go:norace
func (s *state) add(pos []uint32, shift uint8) {
	for _, u := range pos {
		b := u + uint32(shift)
		c := uint32(s.count[b])
		s.count[b] = uint8(c + 1)
		s.once[b/8] |= 1 << (b & 7)
		s.twice[b/8] |= uint8((c + 255) >> 8 << (b & 7))
	}
}

// remove undoes add.
//
//go:norace
func (s *state) remove(pos []uint32, shift uint8) {
	for _, u := range pos {
		b := u + uint32(shift)
		c := uint32(s.count[b]) - 1
		s.count[b] = uint8(c)
		s.once[b/8] &^= uint8((c - 1) >> 31 << (b & 7))
		s.twice[b/8] &^= uint8((c - 2) >> 31 << (b & 7))
	}
}

// windows returns the bits of once (low half) and twice (high half) from a position on.
//
//go:norace
func (s *state) windows(u uint32) uint64 {
	at := u / 8
	a := binary.LittleEndian.Uint64(s.once[at:]) >> (u & 7)
	b := binary.LittleEndian.Uint64(s.twice[at:]) >> (u & 7)
	return uint64(uint32(a)) | b<<32
}
