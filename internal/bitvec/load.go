package bitvec

import (
	"math/bits"
	"unsafe"
)

// Line returns words [8·i, 8·i+8) without a bounds check: 8·i+8 is at most len(words). The check would be a tenth of
// the instructions of a query.
func Line(words []uint64, i uint64) *[8]uint64 {
	return (*[8]uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*64))
}

// HalfLine returns words [4·i, 4·i+4) without a bounds check: 4·i+4 is at most len(words).
func HalfLine(words []uint64, i uint64) *[4]uint64 {
	return (*[4]uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*32))
}

// Bit returns a word whose lowest bit is bit i; the others are undefined. It has no bounds check: i is below
// 64·len(words).
func Bit(words []uint64, i uint64) uint64 {
	return BitAt(unsafe.Pointer(unsafe.SliceData(words)), i)
}

// BitAt is Bit for the array of words that begins at words.
func BitAt(words unsafe.Pointer, i uint64) uint64 {
	return *(*uint64)(unsafe.Add(words, i/64*8)) >> (i % 64)
}

// Load57 returns a word whose lowest 57 bits are bits [i, i+57); the others are undefined. It has no bounds check:
// i+64 is at most 64·len(words).
func Load57(words []uint64, i uint64) uint64 {
	if !LittleEndian {
		return load64(words, i)
	}
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i/8)) >> (i % 8)
}

// Load32 returns a word whose lowest 25 bits are bits [i+shift, i+shift+25), shift at most 31; the others are
// undefined. The address of its load does not depend on shift, so the load can start before shift is known. It has no
// bounds check: i+64 is at most 64·len(words).
func Load32(words []uint64, i, shift uint64) uint64 {
	if !LittleEndian {
		return load64(words, i) >> (shift & 31)
	}
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i/8)) >> ((i%8 + shift) & 63)
}

// load64 returns bits [i, i+64) on a machine of any byte order. The second index is the word of the last bit, i+63, so
// that it reads the word after the word of bit i only if it needs a bit of it.
func load64(words []uint64, i uint64) uint64 {
	return words[i/64]>>(i%64) | words[(i+63)/64]<<1<<(63-i%64)
}

// Word32 returns bits [32·i, 32·i+32) without a bounds check: 32·i+32 is at most 64·len(words).
func Word32(words []uint64, i uint64) uint32 {
	if !LittleEndian {
		return uint32(words[i/2] >> (i % 2 * 32))
	}
	return *(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*4))
}

// Word16 returns bits [16·i, 16·i+16) without a bounds check: 16·i+16 is at most 64·len(words).
func Word16(words []uint64, i uint64) uint16 {
	if !LittleEndian {
		return uint16(words[i/4] >> (i % 4 * 16))
	}
	return *(*uint16)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*2))
}

// Byte returns bits [8·i, 8·i+8) without a bounds check: 8·i+8 is at most 64·len(words).
func Byte(words []uint64, i uint64) uint8 {
	if !LittleEndian {
		return uint8(words[i/8] >> (i % 8 * 8))
	}
	return *(*uint8)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i))
}

// PackedWords returns the number of words for n packed integers of width bits, 1 to 32, followed by at least 64 bits.
// The result is exact for every n.
func PackedWords(n uint64, width uint) uint64 {
	hi, lo := bits.Mul64(n, uint64(width)) // 128 bits, because n comes from a file and the product could overflow
	return hi<<58 + lo/64 + 2
}

// Prefetch prefetches words[at[i]] for every i and does not wait. Positions beyond the words have no effect. On
// machines without a prefetch instruction in this package it reads the words, which overlaps cache misses too.
func Prefetch(words []uint64, at []uint64) { prefetch(words, at, 0) }

// PrefetchBits is Prefetch for bit positions: it prefetches words[at[i]/64].
func PrefetchBits(words []uint64, at []uint64) { prefetch(words, at, 6) }

// PrefetchBitsAt is PrefetchBits for bits of several arrays: at[i] is BitAddress of the words plus the position of the
// bit. It has no effect if Prefetches is false.
func PrefetchBitsAt(at []uint64) { prefetch(nil, at, 6) }

// PrefetchAt prefetches the words at the given addresses. It has no effect if Prefetches is false.
func PrefetchAt(at []unsafe.Pointer) {
	if Prefetches {
		prefetch(nil, unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(at))), len(at)), 3)
	}
}

// BitAddress returns the address of words, in bits.
func BitAddress(words unsafe.Pointer) uint64 { return uint64(uintptr(words)) * 8 }
