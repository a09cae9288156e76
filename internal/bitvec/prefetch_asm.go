//go:build (amd64 || arm64) && !purego

package bitvec

// Prefetches reports whether this package has a prefetch instruction of the machine.
const Prefetches = true

//go:noescape
func prefetch(words []uint64, at []uint64, shift uint64)
