package bitvec

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
)

// maxWords is the largest allocation: 2^43 words are 64 TiB, more than any machine has; on a 32-bit machine the largest
// slice has less than 2^31 bytes.
const maxWords = min(1<<43, uint64(^uint(0)>>1)/8) - LineWords

// Alloc returns a slice of zeros whose first word is at the start of a cache line. It returns an error wrapping
// filter.ErrTooLarge if the machine cannot address so large an array or has less memory, swap included, because an
// allocation by Go would end the process. On Linux, it asks for huge pages for arrays of several MiB.
func Alloc(words uint64) ([]uint64, error) {
	if words > maxWords {
		return nil, fmt.Errorf("%d words of 64 bits are %w for this machine", words, filter.ErrTooLarge)
	}
	if all := memory(); all > 0 && words*8 > all {
		return nil, fmt.Errorf("%d MiB are %w: this machine has %d MiB of memory", words>>17, filter.ErrTooLarge, all>>20)
	}

	s := make([]uint64, words+LineWords-1) // room to skip the words before the first start of a line
	skip := -(uintptr(unsafe.Pointer(unsafe.SliceData(s))) / 8) % LineWords
	s = s[skip:][:words:words]
	adviseHuge(s)
	return s, nil
}

// Shrunk returns the first n words in an array of their own, or in the same one if there is no memory for it. It takes
// over words. On Linux it gives the memory of the other words back before it copies, so that the process does not need
// more memory meanwhile if n is at most half.
func Shrunk(words []uint64, n uint64) []uint64 {
	if n == uint64(len(words)) {
		return words
	}
	release(words[n:])
	own, err := Alloc(n)
	if err != nil {
		return words[:n:n]
	}
	copy(own, words)
	return own
}

// Resized returns a slice of n elements with arbitrary values: the memory of s if it is large enough, else a new slice.
// Unlike slices.Grow it neither copies elements nor allocates more memory than n elements need.
func Resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Bytes returns the memory of words as bytes, in the byte order of this machine. Both share memory.
func Bytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// View returns the whole words in b, which share its memory. It returns false if b is not aligned to 8 bytes or the
// machine is big-endian.
func View(b []byte) ([]uint64, bool) {
	p := unsafe.Pointer(unsafe.SliceData(b))
	if !LittleEndian || uintptr(p)%8 != 0 {
		return nil, false
	}
	return unsafe.Slice((*uint64)(p), len(b)/8), true
}

// Words returns the n words of a file whose bytes are b, padded with zeros at the end. They share the memory of b if
// they can.
func Words(b []byte, n uint64) []uint64 {
	if words, ok := View(b); ok && uint64(len(b)) == 8*n {
		return words
	}
	words := make([]uint64, n)
	copy(Bytes(words), b)
	FixOrder(words)
	return words
}

// Pieces calls give with the words as bytes in file order, at most 1 MiB at a time.
func Pieces(words []uint64, give func([]byte) error) error {
	var ordered []uint64 // a piece in file order, on a big-endian machine
	for part := range slices.Chunk(words, 1<<17) {
		if !LittleEndian {
			ordered = append(ordered[:0], part...)
			FixOrder(ordered)
			part = ordered
		}
		if err := give(Bytes(part)); err != nil {
			return err
		}
	}
	return nil
}

// As returns v as a value of type T, which must be the underlying type of V.
func As[T, V any](v V) T { return *(*T)(unsafe.Pointer(&v)) }

// Within reports whether an address is in the memory of b.
func Within(b []byte, address uintptr) bool {
	// The difference wraps around for an address before b, and is then larger than any length.
	return address-uintptr(unsafe.Pointer(unsafe.SliceData(b))) < uintptr(len(b))
}

// Offset returns the position of part in the memory of b. It returns false if part is not in b.
func Offset(b, part []byte) (int, bool) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part))) - uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return int(at), at <= uintptr(len(b)) && uintptr(len(part)) <= uintptr(len(b))-at
}

// FixOrder converts words in place between the byte order of files and the byte order of this machine. On a
// little-endian machine it does nothing.
func FixOrder(words []uint64) {
	if LittleEndian {
		return
	}
	for i, w := range words {
		words[i] = bits.ReverseBytes64(w)
	}
}
