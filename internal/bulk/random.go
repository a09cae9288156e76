package bulk

import (
	"iter"
	"math/rand/v2"
)

// RandomKeys returns random names of 24 letters and digits without end. They have 120 random bits, so that none of them
// is in a list of keys. The memory of a name is reused for the next one.
func RandomKeys(seed uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		next := randomKeys(seed)
		for key := next(nil); yield(key); {
			key = next(key[:0])
		}
	}
}

// randomKeys returns a function that appends the next random name to a slice.
func randomKeys(seed uint64) func(to []byte) []byte {
	r := rand.New(rand.NewPCG(seed, 0x616273656e74))
	const letters = "abcdefghijklmnopqrstuvwxyz012345"
	return func(to []byte) []byte {
		for range 2 {
			x := r.Uint64()
			for range 12 {
				to = append(to, letters[x&31])
				x >>= 5
			}
		}
		return to
	}
}
