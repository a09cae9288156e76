package partitioned

import "math/bits"

// A shift earns coveredPoints for every key of the group whose bit is set by others already, and one more if at least
// two others set it: a bit with one owner is one that may still be freed.
const coveredPoints = 4

// maxSliced is the largest group that best can take: six planes count to 63, of which noise takes 15.
const maxSliced = 48

// bestPlain is the specification of best: one shift after the other. noise[c] is added to the score of shift c.
//
//go:norace
func (s *state) bestPlain(pos []uint32, shifts int, noise *[window]uint) (best uint32) {
	var scores [window]uint
	var top uint
	for c := range shifts {
		score := noise[c]
		for _, u := range pos {
			w := s.windows(u) >> c
			score += coveredPoints*uint(w&1) + uint(w>>32&1)
		}
		scores[c] = score
		top = max(top, score)
	}
	for c := range shifts {
		if scores[c] == top {
			best |= 1 << c
		}
	}
	return best
}

// best returns the set of shifts, as bits, that have the highest score. It sums the windows of all keys bit-sliced: lane
// c of the low half counts how many keys find their bit for shift c set once, lane c of the high half how many find it
// set twice. noise holds the planes of a number in [0, 16) for each shift, in the high halves; allowed has the bits of
// the shifts there are. pos has at most maxSliced positions.
//
//go:norace
func (s *state) best(pos []uint32, allowed uint32, noise *[4]uint64) uint32 {
	p0, p1, p2, p3 := noise[0], noise[1], noise[2], noise[3]
	var p4, p5, a, b, c, d, e uint64
	for len(pos) >= 8 {
		q := (*[8]uint32)(pos)
		p0, a = full(p0, s.windows(q[0]), s.windows(q[1]))
		p0, b = full(p0, s.windows(q[2]), s.windows(q[3]))
		p1, c = full(p1, a, b)
		p0, a = full(p0, s.windows(q[4]), s.windows(q[5]))
		p0, b = full(p0, s.windows(q[6]), s.windows(q[7]))
		p1, d = full(p1, a, b)
		p2, e = full(p2, c, d)
		p3, e = p3^e, p3&e
		p4, e = p4^e, p4&e
		p5 ^= e
		pos = pos[8:]
	}
	for ; len(pos) >= 2; pos = pos[2:] {
		p0, a = full(p0, s.windows(pos[0]), s.windows(pos[1]))
		p1, a = p1^a, p1&a
		p2, a = p2^a, p2&a
		p3, a = p3^a, p3&a
		p4, a = p4^a, p4&a
		p5 ^= a
	}
	if len(pos) == 1 {
		a = s.windows(pos[0])
		p0, a = p0^a, p0&a
		p1, a = p1^a, p1&a
		p2, a = p2^a, p2&a
		p3, a = p3^a, p3&a
		p4, a = p4^a, p4&a
		p5 ^= a
	}
	// score = 4·low + high, plane by plane.
	r2, carry := p2>>32^p0, p2>>32&p0
	r3, carry := full(p3>>32, p1, carry)
	r4, carry := full(p4>>32, p2, carry)
	r5, carry := full(p5>>32, p3, carry)
	r6, carry := p4^carry, p4&carry
	r7, r8 := p5^carry, p5&carry
	best := uint64(allowed)
	for _, r := range [9]uint64{r8, r7, r6, r5, r4, r3, r2, p1 >> 32, p0 >> 32} {
		if t := best & r; t != 0 {
			best = t
		}
	}
	return uint32(best)
}

// full is a full adder in every lane.
//
//go:norace
func full(a, b, c uint64) (sum, carry uint64) {
	x := a ^ b
	return x ^ c, a&b | x&c
}

// oneOf returns one of the set bits of best, which is not 0; r is random.
func oneOf(best uint32, r uint64) uint8 {
	turn := int(r & 31)
	return uint8((bits.TrailingZeros32(bits.RotateLeft32(best, -turn)) + turn) & 31)
}
