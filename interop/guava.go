package interop

import (
	"encoding/binary"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// guavaFile is the output of Guava's BloomFilter.writeTo.
//
//	bytes
//	    1  strategy: 0 MURMUR128_MITZ_32, 1 MURMUR128_MITZ_64
//	    1  number of probes per key, 1 to 255
//	    4  number of words, big endian, 1 to 2^31-1
//	    8  each word, big endian
//
// A key is what the funnel writes: byteArrayFunnel the bytes, stringFunnel(UTF_8) the string in UTF-8,
// unencodedCharsFunnel two bytes per char, little endian, longFunnel 8 bytes, little endian (Keyed[uint64]),
// integerFunnel 4 bytes, little endian.
var guavaFile = codec{
	format: Guava, bigEnd: true, hash: filter.Murmur3,
	head: func(r *reader) header {
		b := r.bytes(6)
		words := uint64(binary.BigEndian.Uint32(b[2:]))
		k, strategy, reached := int(b[1]), 32, min(64*words, 1<<31)
		switch {
		case b[0] > 1:
			r.fail(ErrFormat, "strategy %d, want 0 or 1", int8(b[0]))
		case k == 0 || words == 0 || words > math.MaxInt32:
			r.fail(filter.ErrCorrupt, "%d probes and %d words", k, int32(words))
		case b[0] == 1:
			strategy, reached = 64, 64*words
		}
		spec := families.UserOf(filter.Murmur3).With("k", k).With("strategy", strategy).With("words", words)
		return header{spec: spec, words: words, keys: estimate(reached, k)}
	},
	marshal: func(e family.Encoded) ([]byte, error) {
		s := family.Reader(e.Spec)
		b := []byte{0, byte(s.Uint("k"))}
		if s.Uint("strategy") == 64 {
			b[0] = 1
		}
		return binary.BigEndian.AppendUint32(b, uint32(s.Uint("words"))), s.Err()
	},
}
