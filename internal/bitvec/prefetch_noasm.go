//go:build !(amd64 || arm64) || purego

package bitvec

func prefetch(words []uint64, at []uint64) { prefetchGo(words, at) }
