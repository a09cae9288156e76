package kernel

import (
	"encoding/binary"
	"unsafe"
)

// Lanes is the number of bytes that BestLanes sums in parallel.
const Lanes = 32

// BestLanes sums windows of Lanes bytes lane by lane and returns a bit set of the lanes with the highest sum.
//
//	sum[i] = byte i of start + sum over a in at of (cells[a+i] & byte i of keep)
//
// No sum may exceed 255. It has no bounds checks: a+Lanes is at most len(cells) for every a. bestLanesPlain, in the
// tests, is the specification.
func BestLanes(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	return bestLanes(cells, at, start, keep)
}

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// bestLanesGo is BestLanes with eight lanes per word.
//
//go:norace
//go:nocheckptr
func bestLanesGo(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	a, b, c, d := start[0], start[1], start[2], start[3]
	k0, k1, k2, k3 := keep[0], keep[1], keep[2], keep[3]
	first := unsafe.Pointer(unsafe.SliceData(cells))
	for _, u := range at {
		w := (*[Lanes]byte)(unsafe.Add(first, u))
		a += binary.LittleEndian.Uint64(w[0:]) & k0
		b += binary.LittleEndian.Uint64(w[8:]) & k1
		c += binary.LittleEndian.Uint64(w[16:]) & k2
		d += binary.LittleEndian.Uint64(w[24:]) & k3
	}

	if (a|b|c|d)&highBits != 0 {
		// Halved sums have the same order as the sums, except for the last bit, which is compared among the best lanes.
		const halves = ^uint64(0) / 255 * 127
		best := topLanes(a>>1&halves, b>>1&halves, c>>1&halves, d>>1&halves)
		if odd := best & (lowBits(a) | lowBits(b)<<8 | lowBits(c)<<16 | lowBits(d)<<24); odd != 0 {
			return odd
		}
		return best
	}
	return topLanes(a, b, c, d)
}

// topLanes returns the set of the highest of 32 bytes, all below 128.
func topLanes(a, b, c, d uint64) uint32 {
	top := larger(larger(a, b), larger(c, d)) // eight candidates, then four, two, one
	top = larger(top, top>>32)
	top = larger(top, top>>16)
	top = larger(top, top>>8) & 255 * eachByte
	return equalBytes(a, top) | equalBytes(b, top)<<8 | equalBytes(c, top)<<16 | equalBytes(d, top)<<24
}

// larger returns the larger byte of each of eight pairs of bytes, all below 128.
func larger(a, b uint64) uint64 {
	m := (a | highBits) - b&^highBits
	m &= highBits // set where a is not smaller
	m |= m - m>>7 // extends each set bit to the whole byte
	return b ^ (a^b)&m
}

// equalBytes returns the set of the equal pairs among eight pairs of bytes, all below 128.
func equalBytes(a, b uint64) uint32 { return lowBits((highBits - (a ^ b)) >> 7) }

// lowBits gathers the lowest bits of eight bytes.
func lowBits(x uint64) uint32 { return uint32(x & eachByte * 0x0102040810204080 >> 56) }

// MapBytes replaces byte c at a+by by to[c], for each a in at, one after the other. It has no bounds checks: a+by is
// below len(cells) for every a.
//
//go:norace
//go:nocheckptr
func MapBytes(cells []byte, at []uint32, by uint32, to *[256]uint8) {
	first := unsafe.Add(unsafe.Pointer(unsafe.SliceData(cells)), by)
	for _, a := range at {
		c := (*uint8)(unsafe.Add(first, a))
		*c = to[*c]
	}
}

// MapBytesTwice is MapBytes for bytes stored twice, 32 apart in aligned pairs of 32: the byte at i = a+by is also at
// i with bit 5 flipped, and both are replaced.
//
//go:norace
//go:nocheckptr
func MapBytesTwice(cells []byte, at []uint32, by uint32, to *[256]uint8) {
	first := unsafe.Pointer(unsafe.SliceData(cells))
	for _, a := range at {
		i := a + by
		c := to[*(*uint8)(unsafe.Add(first, i))]
		*(*uint8)(unsafe.Add(first, i)) = c
		*(*uint8)(unsafe.Add(first, i^Lanes)) = c
	}
}
