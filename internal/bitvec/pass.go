package bitvec

// passWords is the number of words between two calls of passed: 1 MiB.
const passWords = 1 << 17

// Or sets words to the bitwise or of words and other, which must be as long. It calls passed, if not nil, with each
// part of other that it has read, in order, at most 1 MiB.
func Or(words, other []uint64, passed func([]uint64)) {
	Pass(words, other, passed, func(words, other []uint64) {
		for i, w := range other {
			words[i] |= w
		}
	})
}

// And is Or for the bitwise and.
func And(words, other []uint64, passed func([]uint64)) {
	Pass(words, other, passed, func(words, other []uint64) {
		for i, w := range other {
			words[i] &= w
		}
	})
}

// Pass calls do with the parts of two arrays, other at most as long as words, in order and at most 1 MiB each. After
// each part it calls passed, if not nil, with the part of other.
func Pass(words, other []uint64, passed func([]uint64), do func(words, other []uint64)) {
	for len(other) > 0 {
		n := min(passWords, len(other))
		do(words[:n], other[:n])
		if passed != nil {
			passed(other[:n])
		}
		words, other = words[n:], other[n:]
	}
}
