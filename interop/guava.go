package interop

import (
	"encoding/binary"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/family/guava"
	"github.com/bloomery/bloomery/filter"
)

// guavaFile is what BloomFilter.writeTo of Guava writes.
//
//	1  strategy: 0 MURMUR128_MITZ_32, 1 MURMUR128_MITZ_64
//	1  number of probes, 1 to 255
//	4  number of words, big endian
//	8  each word, big endian
//
// A key is what the funnel gives: the bytes themselves of byteArrayFunnel, those in UTF-8 of stringFunnel(UTF_8), two bytes little
// endian for each char of unencodedCharsFunnel, 8 bytes little endian of longFunnel (ContainsUint64), 4 of integerFunnel.
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
			return nil, r.fail(ErrFormat, "strategy %d", int8(b[0]))
		case k == 0 || words == 0 || words > guava.MaxWords:
			return nil, r.fail(container.ErrCorrupt, "%d probes and %d words", k, int32(words))
		case b[0] == 1:
			strategy = guava.Mitz64
		}
		return &header{spec: guava.Spec(words, k, strategy), words: words, keys: estimate(guava.Reach(words, strategy), k)}, nil
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
