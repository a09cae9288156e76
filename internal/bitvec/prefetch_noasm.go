//go:build !(amd64 || arm64) || purego

package bitvec

// Prefetches reports whether this package has a prefetch instruction of the machine.
const Prefetches = false

// prefetch may read words that others write at the same time: their values have no effect.
//
//go:norace
func prefetch(words []uint64, at []uint64, shift uint64) {
	var sum uint64
	for _, i := range at {
		if i >>= shift & 63; i < uint64(len(words)) {
			sum += words[i]
		}
	}
	sink(sum)
}

//go:noinline
func sink(uint64) {}
