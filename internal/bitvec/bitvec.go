// Package bitvec implements the arrays of which filters consist: cache-line aligned words of 64 bits, packed integers
// and bit fields, counts of bits, prefetching, and the byte order of files.
//
// Bit i of an array is bit i%64 of word i/64, counted from the lowest bit. The lowest bit of a field at bit i is bit i;
// the field may straddle two words. Packed integers are fields of one width side by side.
//
// Functions whose comments say "without a bounds check" use unsafe loads: the caller must keep positions within the
// stated limit. All others panic as Go's indexing does. Functions do not synchronise: an array may be read by any
// number of goroutines while none writes to it.
package bitvec

import (
	"math/bits"
	"unsafe"
)

// LineWords is the number of 64-bit words in a cache line of 64 bytes.
const LineWords = 8

// OnesCount returns the number of set bits in words.
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

// OnesBelow returns the number of set bits in bits [0, n), n at most 64·len(words).
func OnesBelow(words []uint64, n uint64) uint64 {
	ones := OnesCount(words[:n/64])
	if n%64 != 0 {
		ones += uint64(bits.OnesCount64(words[n/64] << (64 - n%64)))
	}
	return ones
}

// OnesIn returns the number of set bits in bits [from, to), to at most 64·len(words).
func OnesIn(words []uint64, from, to uint64) uint64 {
	words, to = words[from/64:], to-from/64*64
	return OnesBelow(words, to) - OnesBelow(words, from%64)
}

// ZeroFrom reports whether no bit from bit n on is set, n at most 64·len(words).
func ZeroFrom(words []uint64, n uint64) bool {
	for i, w := range words[n/64:] {
		if i == 0 {
			w >>= n % 64
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// Field returns bits [at, at+width), width 1 to 63, without a bounds check: at+width is at most 64·len(words). It reads
// only words that contain some of these bits.
func Field(words []uint64, at uint64, width uint) uint64 {
	p := unsafe.Pointer(unsafe.SliceData(words))
	lo := *(*uint64)(unsafe.Add(p, at/64*8))
	hi := *(*uint64)(unsafe.Add(p, (at+uint64(width)-1)/64*8)) // lo again if the field lies in one word: the mask drops it
	s := at % 64
	return (lo>>s | hi<<1<<(63-s)) & (1<<(width%64) - 1) // two shifts: with s = 0 a single one would be by 64
}

// SetField sets bits [at, at+width) to the lowest width bits of v, width 1 to 63.
func SetField(words []uint64, at uint64, width uint, v uint64) {
	s, mask := at%64, uint64(1)<<(width%64)-1
	v &= mask
	words[at/64] = words[at/64]&^(mask<<s) | v<<s
	end := (at + uint64(width) - 1) / 64
	words[end] = words[end]&^(mask>>1>>(63-s)) | v>>1>>(63-s) // changes nothing if the field lies in one word
}

// Copy sets bits [to, to+n) of words to bits [from, from+n) of source, without a bounds check of source. The two do not
// overlap.
func Copy(words []uint64, to uint64, source []uint64, from, n uint64) {
	for ; n > 0; n -= min(n, 63) {
		width := uint(min(n, 63))
		SetField(words, to, width, Field(source, from, width))
		to, from = to+63, from+63
	}
}

// Insert moves bits [at, end-width) up by width and sets bits [at, at+width) to v, which is below 2^width. The last
// width bits before end are lost; bits outside of [at, end) stay. width is 1 to 63 and at+width at most end.
func Insert(words []uint64, at, end uint64, width uint, v uint64) {
	w := words[at/64 : (end-1)/64+1]
	s, last := at%64, len(w)-1
	below, within := uint64(1)<<s-1, ^uint64(0)>>(-end%64) // within: the bits before end in the last word
	first := w[0]
	up := first &^ below
	if last == 0 {
		w[0] = first&(below|^within) | (up<<(width%64)|v<<s)&within
		return
	}

	keep := w[last] &^ within
	for i := last; i > 1; i-- { // from the end, because each word needs the old word before it
		w[i] = w[i]<<(width%64) | w[i-1]>>(-width%64)
	}

	w[1] = w[1]<<(width%64) | up>>(-width%64) | v>>1>>(63-s)
	w[0] = first&below | up<<(width%64) | v<<s
	w[last] = w[last]&within | keep
}

// Delete is the inverse of Insert: it moves bits [at+width, end) down by width and clears bits [end-width, end).
func Delete(words []uint64, at, end uint64, width uint) {
	w := words[at/64 : (end-1)/64+1]
	last := len(w) - 1
	below, within := uint64(1)<<(at%64)-1, ^uint64(0)>>(-end%64)
	keep, low := w[last]&^within, w[0]&below
	w[last] &= within
	for i := range last {
		w[i] = w[i]>>(width%64) | w[i+1]<<(-width%64)
	}
	w[last] = w[last]>>(width%64) | keep
	w[0] = w[0]&^below | low
}
