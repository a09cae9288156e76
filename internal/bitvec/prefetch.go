package bitvec

import "unsafe"

// Prefetch asks the memory system for words[at[i]] of every i and does not wait. Positions beyond the words have no
// effect. On machines without a prefetch instruction in this package it reads the words, which overlaps cache misses
// too.
func Prefetch(words []uint64, at []uint64) { prefetch(words, at, 0) }

// PrefetchBits does the same for bit positions: it asks for words[at[i]/64].
func PrefetchBits(words []uint64, at []uint64) { prefetch(words, at, 6) }

// PrefetchBitsAt does the same for bits of different arrays: at[i] is BitAddress of the words plus the position of the
// bit. It has no effect if Prefetches is false.
func PrefetchBitsAt(at []uint64) { prefetch(nil, at, 6) }

// PrefetchAt asks for the words at some addresses. It has no effect if Prefetches is false.
func PrefetchAt(at []unsafe.Pointer) {
	if Prefetches {
		prefetch(nil, unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(at))), len(at)), 3)
	}
}

// BitAddress returns the address of words, in bits.
func BitAddress(words unsafe.Pointer) uint64 { return uint64(uintptr(words)) * 8 }
