package interop

import (
	"encoding/binary"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/family/guava"
	"github.com/bloomery/bloomery/filter"
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
// unencodedCharsFunnel two bytes per char, little endian, longFunnel 8 bytes, little endian (ContainsUint64),
// integerFunnel 4 bytes, little endian.
var guavaFile = codec{
	format: Guava, bigEnd: true, family: guava.Family, hash: filter.Murmur3, want: "guava",
	head: func(r *reader) (*header, error) {
		var b [6]byte
		if err := r.full(b[:]); err != nil {
			return nil, err
		}
		words := uint64(binary.BigEndian.Uint32(b[2:]))
		k, strategy := int(b[1]), guava.Mitz32
		switch {
		case b[0] > 1:
			return nil, r.fail(ErrFormat, "strategy %d, want 0 or 1", int8(b[0]))
		case k == 0 || words == 0 || words > guava.MaxWords:
			return nil, r.fail(container.ErrCorrupt, "%d probes and %d words", k, int32(words))
		case b[0] == 1:
			strategy = guava.Mitz64
		}
		spec := guava.Spec(words, k, strategy)
		return &header{spec: spec, words: words, keys: estimate(guava.Reach(words, strategy), k)}, nil
	},
	marshal: func(f filter.Filter) ([]byte, error) {
		g := f.(*guava.Filter)
		b := []byte{0, byte(g.K())}
		if g.Strategy() == guava.Mitz64 {
			b[0] = 1
		}
		return binary.BigEndian.AppendUint32(b, uint32(len(g.Encode().Sections[0]))), nil
	},
}
