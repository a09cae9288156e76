package plank

import "encoding/binary"

// mother is the generator of the notes: "Mother of All", a multiply-with-carry generator of 32-bit words by
// G. Marsaglia, with the seeding of A. Fog. Plank published his wrappers in GF-Complete.
type mother struct {
	last  [4]uint32 // the last four outputs, the latest first
	carry uint32
}

// newMother returns the generator that MOA_Seed(seed) makes.
func newMother(seed uint32) *mother {
	next := func() uint32 {
		seed = seed*29943829 - 1
		return seed
	}
	m := &mother{}
	for i := range m.last {
		m.last[i] = next()
	}
	m.carry = next()

	// The first outputs depend on few bits of the seed, so Fog drops 19.
	for range 19 {
		m.word()
	}
	return m
}

// word returns the next 32 random bits.
func (m *mother) word() uint32 {
	// The largest sum is (2^32-1)·(2111111111+1492+1776+5115) + 2^32-1, which is less than 2^63.
	sum := 2111111111*uint64(m.last[3]) + 1492*uint64(m.last[2]) + 1776*uint64(m.last[1]) + 5115*uint64(m.last[0]) +
		uint64(m.carry)
	m.last = [4]uint32{uint32(sum), m.last[0], m.last[1], m.last[2]}
	m.carry = uint32(sum >> 32)
	return uint32(sum)
}

// below returns the low 31 bits of an output modulo n, which is how BF-tester draws a percentage or a block.
func (m *mother) below(n int) int { return int(m.word()&(1<<31-1)) % n }

// fill fills b with little-endian words. Each byte that is left over takes the low byte of a further output.
func (m *mother) fill(b []byte) {
	for len(b) >= 4 {
		binary.LittleEndian.PutUint32(b, m.word())
		b = b[4:]
	}
	for i := range b {
		b[i] = byte(m.word())
	}
}
