// Package bitvec holds the arrays that filters are made of: cache-line aligned words, packed integers, counts and
// prefetching. It is the only room of this module with unsafe code or assembly. Functions index without checks of
// their own beyond Go's; callers keep positions below the length.
package bitvec

import (
	"fmt"
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
)

// LineWords is the number of 64-bit words in a cache line of 64 bytes.
const LineWords = 8

// maxWords bounds an allocation: 2^43 words are 64 TiB, less than any address space of 64 bits holds, and on a
// 32-bit machine the largest slice of 8-byte words stays below 2^31 bytes.
const maxWords = min(1<<43, uint64(^uint(0)>>1)/8) - LineWords

// Alloc returns that many zero words, the first of them at the start of a cache line, or an error wrapping
// filter.ErrTooLarge if they are more than this machine can address or has memory for: Go would end the process.
func Alloc(words uint64) ([]uint64, error) {
	if words > maxWords {
		return nil, fmt.Errorf("%d words of 64 bits are %w for this machine", words, filter.ErrTooLarge)
	}
	if all := memory(); all > 0 && words*8 > all {
		return nil, fmt.Errorf("%d MiB are %w: this machine has %d MiB of memory", words>>17, filter.ErrTooLarge, all>>20)
	}
	s := make([]uint64, words+LineWords-1)
	skip := -(uintptr(unsafe.Pointer(unsafe.SliceData(s))) / 8) % LineWords
	s = s[skip:][:words:words]
	adviseHuge(s)
	return s, nil
}

// Bytes returns the memory of the words, in the byte order of this machine.
func Bytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// View returns the whole words in b without copying, or false if b is not aligned to 8 bytes or this machine is
// not little endian.
func View(b []byte) ([]uint64, bool) {
	p := unsafe.Pointer(unsafe.SliceData(b))
	if !LittleEndian || uintptr(p)%8 != 0 {
		return nil, false
	}
	return unsafe.Slice((*uint64)(p), len(b)/8), true
}

// As returns v as a value of type T. The caller makes sure that T is the underlying type of V.
func As[T, V any](v V) T { return *(*T)(unsafe.Pointer(&v)) }

// Within reports whether an address lies in the memory of b.
func Within(b []byte, address uintptr) bool {
	return address-uintptr(unsafe.Pointer(unsafe.SliceData(b))) < uintptr(len(b))
}

// LittleEndian reports whether words lie in memory as they do in a file. It is a constant so that it costs nothing; a test
// holds it against the machine.
const LittleEndian = runtime.GOARCH != "ppc64" && runtime.GOARCH != "s390x" && runtime.GOARCH != "mips" && runtime.GOARCH != "mips64"

// FixOrder turns words that were read from a file as bytes into this machine's order, or the other way round.
func FixOrder(words []uint64) {
	if LittleEndian {
		return
	}
	for i, w := range words {
		words[i] = bits.ReverseBytes64(w)
	}
}

// Line returns words [8·i, 8·i+8) without a bounds check, which would be a tenth of a query's instructions. The caller has
// 8·i+8 <= len(words): i is the upper half of a product with the number of lines.
func Line(words []uint64, i uint64) *[8]uint64 {
	return (*[8]uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*64))
}

// HalfLine returns words [4·i, 4·i+4) in the same way.
func HalfLine(words []uint64, i uint64) *[4]uint64 {
	return (*[4]uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*32))
}

// Bit returns a word whose lowest bit is bit i of the words, without a bounds check. The caller has i < 64·len(words).
func Bit(words []uint64, i uint64) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i/64*8)) >> (i % 64)
}

// OnesCount returns the number of set bits.
func OnesCount(words []uint64) uint64 {
	var n int
	for len(words) >= 4 {
		n += bits.OnesCount64(words[0]) + bits.OnesCount64(words[1]) + bits.OnesCount64(words[2]) + bits.OnesCount64(words[3])
		words = words[4:]
	}
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

// OnesBelow returns the number of set bits among the first n, bit i being bit i%64 of word i/64. n must not be more than
// the words have.
func OnesBelow(words []uint64, n uint64) uint64 {
	ones := OnesCount(words[:n/64])
	if n%64 != 0 {
		ones += uint64(bits.OnesCount64(words[n/64] << (64 - n%64)))
	}
	return ones
}

// SetPacked writes v into integer i, which must be 0 before, of an array of integers of width bits each, 1 to 32, packed without gaps
// from the lowest bit of the first word on: Load57(words, i·width) reads it. words must have one word more than the integers
// fill.
func SetPacked(words []uint64, i uint64, width uint, v uint32) {
	at := i * uint64(width)
	pair := words[at/64:][:2]
	shift := at % 64
	pair[0] |= uint64(v) << shift
	pair[1] |= uint64(v) >> 1 >> (63 - shift)
}

// PackedWords returns the number of words that n such integers take, with 64 bits or more behind the last.
func PackedWords(n uint64, width uint) uint64 {
	hi, lo := bits.Mul64(n, uint64(width))
	return hi<<58 + lo/64 + 2
}

// Load57 returns the bits from bit i of the words on: at least 57 of them, then zeros or further bits. It has no bounds
// check. The caller has i+64 <= 64·len(words).
func Load57(words []uint64, i uint64) uint64 {
	if !LittleEndian {
		return words[i/64]>>(i%64) | words[i/64+1]<<1<<(63-i%64)
	}
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i/8)) >> (i % 8)
}

// Load32 returns the bits from bit i+shift on, at least 25 of them, shift being at most 31. Its address does not depend on
// the shift. It has no bounds check either; the caller has i+64 <= 64·len(words).
func Load32(words []uint64, i, shift uint64) uint64 {
	if !LittleEndian {
		return (words[i/64]>>(i%64) | words[i/64+1]<<1<<(63-i%64)) >> (shift & 31)
	}
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i/8)) >> ((i%8 + shift) & 63)
}

// Word32 returns the word of 32 bits that holds bits [32·i, 32·i+32), without a bounds check. The caller has
// 32·i+32 <= 64·len(words).
func Word32(words []uint64, i uint64) uint32 {
	if !LittleEndian {
		return uint32(words[i/2] >> (i % 2 * 32))
	}
	return *(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*4))
}
