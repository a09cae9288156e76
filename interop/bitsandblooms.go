package interop

import (
	"encoding/binary"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/family/bitsandblooms"
	"github.com/bloomery/bloomery/filter"
)

// bitsAndBlooms is what WriteTo, MarshalBinary and GobEncode of github.com/bits-and-blooms/bloom/v3 write, all numbers of 8 bytes
// and big endian.
//
//	m, the number of bits; k, the number of probes
//	the length of the bit set: m, or more where a filter was made of words with FromWithM
//	⌈length/64⌉ words
//
// A key is the bytes that Add was given; the library makes none of other values.
var bitsAndBlooms = codec{
	format: BitsAndBlooms, bigEnd: true, family: bitsandblooms.Family, hash: filter.Murmur3Twice, want: "bitsandblooms",
	head: func(r *reader) (*header, error) {
		var b [24]byte
		if err := r.full(b[:]); err != nil {
			return nil, err
		}
		m, k, length := binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])
		switch {
		case k == 0 || k > bitsandblooms.MaxK:
			return nil, r.fail(ErrFormat, "%d probes, want 1 to %d", k, bitsandblooms.MaxK)
		case m == 0 || length < m:
			return nil, r.fail(container.ErrCorrupt, "%d bits in a bit set of %d", m, length)
		case length >= 1<<62:
			return nil, r.fail(filter.ErrTooLarge, "%d bits", length)
		}
		return &header{spec: bitsandblooms.Spec(m, length, int(k)), words: (length + 63) / 64, keys: estimate(m, int(k))}, nil
	},
	marshal: func(f filter.Filter) ([]byte, error) {
		m, length, k := f.(*bitsandblooms.Filter).Geometry()
		b := binary.BigEndian.AppendUint64(nil, m)
		b = binary.BigEndian.AppendUint64(b, uint64(k))
		return binary.BigEndian.AppendUint64(b, length), nil
	},
}
