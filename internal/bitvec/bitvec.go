// Package bitvec holds the arrays that filters are made of: cache-line aligned words of 64 bits, packed integers and
// bit fields, counts of bits, prefetching, and the byte order of files.
//
// Bit i of an array is bit i%64 of word i/64, counted from the lowest. A field of w bits at bit i has its lowest bit
// at i and may straddle two words; packed integers are fields of one width side by side.
//
// Functions whose comments say "without a bounds check" use unsafe loads: the caller must keep positions within the
// stated limit. All others panic as Go's indexing does. Functions do not synchronise: an array may be read by any
// number of goroutines while none writes to it.
package bitvec

import "math/bits"

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

// ZerosInBoth returns the number of bits in [0, n) that are set neither in v nor in w, n at most 64 times the length of
// either.
func ZerosInBoth(v, w []uint64, n uint64) (zeros uint64) {
	v, w = v[:(n+63)/64], w[:(n+63)/64]
	for i, x := range v {
		zeros += uint64(bits.OnesCount64(^(x | w[i])))
	}
	if n%64 != 0 {
		zeros -= uint64(bits.OnesCount64(^(v[n/64] | w[n/64]) >> (n % 64)))
	}
	return zeros
}

// Ones returns the number of set bits in bits [from, from+n), n at least 0, without a bounds check: from+n is at most
// 64·len(words). It reads only words that hold some of these bits.
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
