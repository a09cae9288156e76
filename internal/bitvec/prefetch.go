package bitvec

// Prefetch asks the memory system for words[at[i]] of every i and does not wait. Positions beyond the words have no
// effect. On machines without a prefetch instruction in this package it reads the words, which overlaps cache misses
// too.
func Prefetch(words []uint64, at []uint64) { prefetch(words, at, 0) }

// PrefetchBits does the same for bit positions: it asks for words[at[i]/64].
func PrefetchBits(words []uint64, at []uint64) { prefetch(words, at, 6) }
