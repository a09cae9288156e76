package bitvec

// Prefetch asks the memory system for words[at[i]] of every i, without waiting for any. Positions beyond the words
// are harmless. Where there is no instruction for it, it reads the words instead, which overlaps the misses as well.
func Prefetch(words []uint64, at []uint64) { prefetch(words, at) }

// prefetchGo is the plain form.
func prefetchGo(words []uint64, at []uint64) {
	var sum uint64
	for _, i := range at {
		if i < uint64(len(words)) {
			sum += words[i]
		}
	}
	sink(sum)
}

//go:noinline
func sink(uint64) {}
