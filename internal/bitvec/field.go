package bitvec

import (
	"math/bits"
	"unsafe"
)

// Field returns bits [at, at+width) of the words, width 1 to 63, without a bounds check: the caller has at+width <=
// 64·len(words). It reads no word that has none of them.
func Field(words []uint64, at uint64, width uint) uint64 {
	p := unsafe.Pointer(unsafe.SliceData(words))
	lo := *(*uint64)(unsafe.Add(p, at/64*8))
	hi := *(*uint64)(unsafe.Add(p, (at+uint64(width)-1)/64*8)) // lo again, if they all lie in one word: then what it adds is cut off
	s := at % 64
	return (lo>>s | hi<<1<<(63-s)) & (1<<(width%64) - 1)
}

// SetField overwrites bits [at, at+width), width 1 to 63.
func SetField(words []uint64, at uint64, width uint, v uint64) {
	s, mask := at%64, uint64(1)<<(width%64)-1
	v &= mask
	words[at/64] = words[at/64]&^(mask<<s) | v<<s
	end := (at + uint64(width) - 1) / 64
	words[end] = words[end]&^(mask>>1>>(63-s)) | v>>1>>(63-s) // nothing, if they all lie in one word
}

// Insert makes room for width bits at bit at: bits [at, end-width) move up by width, and v of width bits comes to [at,
// at+width). What was in [end-width, end) is lost; bits outside of [at, end) stay. Width is 1 to 63, at+width at most end.
func Insert(words []uint64, at, end uint64, width uint, v uint64) {
	w := words[at/64 : (end-1)/64+1]
	s, last := at%64, len(w)-1
	below, within := uint64(1)<<s-1, ^uint64(0)>>(-end%64)
	first := w[0]
	up := first &^ below
	if last == 0 {
		w[0] = first&(below|^within) | (up<<(width%64)|v<<s)&within
		return
	}
	keep := w[last] &^ within
	for i := last; i > 1; i-- {
		w[i] = w[i]<<(width%64) | w[i-1]>>(-width%64)
	}
	w[1] = w[1]<<(width%64) | up>>(-width%64) | v>>1>>(63-s)
	w[0] = first&below | up<<(width%64) | v<<s
	w[last] = w[last]&within | keep
}

// Delete is the opposite of Insert: bits [at+width, end) move down by width, and zeros come to [end-width, end).
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

// Ones returns the number of set bits among bits [from, from+n). Like Field it reads no other word.
func Ones(words []uint64, from, n uint64) (sum uint64) {
	for ; n >= 32; n -= 32 {
		sum += uint64(bits.OnesCount64(Field(words, from, 32)))
		from += 32
	}
	if n > 0 {
		sum += uint64(bits.OnesCount64(Field(words, from, uint(n))))
	}
	return sum
}
