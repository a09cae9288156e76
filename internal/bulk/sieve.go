package bulk

import (
	"math/bits"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
)

// sieve is a table of bits in which keys are looked up before they are kept. It has no false negatives.
type sieve struct {
	words []uint64
	shift int // the bit of a hash is Hi >> shift
}

// newSieve returns a sieve with 8 to 16 bits a key, at least 128 KiB and at most 64 MiB, and of at most an eighth of a
// memory limit. With twice as many keys as expected, it keeps a fifth of other keys.
func newSieve(keys uint64, memory int64) sieve {
	const least, most = 20, 29 // logarithms of the number of bits
	if keys == 0 {
		keys = 1 << 20
	}
	size := min(max(bits.Len64(min(keys, 1<<most))+3, least), most)
	if memory > 0 {
		size = max(min(size, bits.Len64(uint64(memory))-1), 6)
	}
	return sieve{make([]uint64, 1<<(size-6)), 64 - size}
}

// add may be called from several goroutines at once.
func (s sieve) add(h filter.Hash) {
	at := h.Hi >> s.shift
	if word, bit := &s.words[at>>6], uint64(1)<<(at&63); atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// has reports whether h may have been added.
func (s sieve) has(h filter.Hash) bool {
	at := h.Hi >> s.shift
	return s.words[at>>6]>>(at&63)&1 != 0
}
