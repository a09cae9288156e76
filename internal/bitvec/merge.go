package bitvec

import (
	"math/bits"
	"sync/atomic"

	"github.com/bloomery/bloomery/internal/family"
)

// Same returns other as an F if it has the same Spec as f, so the same family and geometry. Otherwise the error wraps
// filter.ErrMismatch and names both.
func Same[F family.Encoder](f F, other family.Filter) (same F, err error) {
	o, ok := other.(F)
	if !ok || family.IsNil(other) || o.Encode().Spec != f.Encode().Spec {
		return same, family.Mismatch(f.Encode().Spec, other)
	}
	return o, nil
}

// Merge adds the keys of other to f, a filter of one section of bits: the bitwise or. A key that is in both counts
// twice in keys, the number of keys of f. Merge returns the errors of Same and then leaves f unchanged. For passed see
// family.Merger.
func Merge(f family.Encoder, keys *uint64, other family.Filter, passed func([]uint64)) error {
	n, err := combine(f, other, passed, func(words, other []uint64) {
		for i, w := range other {
			words[i] |= w
		}
	})
	*keys += n
	return err
}

// Intersect reduces f to the bits that are set in both filters. f then contains the common keys, and its false-positive
// rate is at most the rate of either filter, but above the rate of a filter built from the common keys alone. keys
// becomes the smaller of the two numbers of keys, which is an upper bound. For errors and passed see Merge.
func Intersect(f family.Encoder, keys *uint64, other family.Filter, passed func([]uint64)) error {
	n, err := combine(f, other, passed, func(words, other []uint64) {
		for i, w := range other {
			words[i] &= w
		}
	})
	if err == nil {
		*keys = min(*keys, n)
	}
	return err
}

// combine calls do with the words of both filters, and returns the number of keys of other.
func combine(
	f family.Encoder, other family.Filter, passed func([]uint64), do func(words, other []uint64),
) (keys uint64, err error) {
	o, err := Same(f, other)
	if err != nil {
		return 0, err
	}
	e := o.Encode()
	Pass(f.Encode().Sections[0], e.Sections[0], passed, do)
	return e.Keys, nil
}

// passWords is the number of words between two calls of passed: 1 MiB.
const passWords = 1 << 17

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

// Free returns how many of the first n bits are 0 in both filters. It returns the errors of Same.
func Free(f family.Encoder, other family.Filter, n uint64) (free uint64, err error) {
	o, err := Same(f, other)
	if err != nil {
		return 0, err
	}

	v, w := f.Encode().Sections[0][:(n+63)/64], o.Encode().Sections[0][:(n+63)/64]
	for i, x := range v {
		free += uint64(bits.OnesCount64(^(x | w[i])))
	}
	if n%64 != 0 { // the bits after bit n of the last word are also 0, but not free
		free -= uint64(bits.OnesCount64(^(v[n/64] | w[n/64]) >> (n % 64)))
	}
	return free, nil
}

// CopyShared returns a copy of words while other goroutines write to them. Since bits are only ever set, the copy
// contains every bit that was set before the call, and so every key whose Add had returned. The copy may contain some
// of the bits of a key that is being added. They raise the false-positive rate at most as much as the whole key would.
// The error wraps filter.ErrTooLarge if the copy does not fit into memory.
func CopyShared(words []uint64) ([]uint64, error) {
	to, err := Alloc(uint64(len(words)))
	for i := range to {
		to[i] = atomic.LoadUint64(&words[i])
	}
	return to, err
}
