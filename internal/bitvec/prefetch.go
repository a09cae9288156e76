package bitvec

// Prefetch asks the memory system for words[at[i]] of every i, without waiting for any. Positions beyond the words
// are harmless. Where there is no instruction for it, it reads the words instead, which overlaps the misses as well.
func Prefetch(words []uint64, at []uint64) { prefetch(words, at, 0) }

// PrefetchBits does the same for bits: it asks for words[at[i]/64].
func PrefetchBits(words []uint64, at []uint64) { prefetch(words, at, 6) }
