//go:build (amd64 || arm64) && !purego

package bitvec

//go:noescape
func prefetch(words []uint64, at []uint64, shift uint64)
