package interop

import (
	"cmp"
	"encoding/binary"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// bitsAndBlooms is the output of WriteTo, MarshalBinary and GobEncode of github.com/bits-and-blooms/bloom/v3. All
// numbers have 8 bytes and are big endian.
//
//	m       number of bits
//	k       number of probes per key
//	length  bits of the bit set: m, or more if the filter was made from words with FromWithM
//	words   ⌈length/64⌉ of them
//
// A key is the bytes that Add takes. The library converts no other values.
var bitsAndBlooms = codec{
	format: BitsAndBlooms, bigEnd: true, hash: filter.Murmur3Twice,
	head: func(r *reader) header {
		b := r.bytes(24)
		m, k, length := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])
		switch {
		case k == 0 || k > maxProbes:
			r.fail(ErrFormat, "%d probes, want 1 to %d", k, maxProbes)
		case m == 0 || length < m:
			r.fail(filter.ErrCorrupt, "%d bits in a bit set of %d", m, length)
		case length >= 1<<62:
			r.fail(filter.ErrTooLarge, "%d bits", length)
		}
		spec := families.UserOf(filter.Murmur3Twice).With("k", k).With("m", m)
		if length != m {
			spec = spec.With("length", length)
		}
		return header{spec: spec, words: (length + 63) / 64, keys: estimate(m, int(k))}
	},
	marshal: func(e family.Encoded) ([]byte, error) {
		s := family.Reader(e.Spec)
		m := s.Uint("m")
		b := binary.BigEndian.AppendUint64(nil, m)
		b = binary.BigEndian.AppendUint64(b, s.Uint("k"))
		return binary.BigEndian.AppendUint64(b, cmp.Or(s.Uint("length"), m)), s.Err()
	},
}

// maxProbes is the largest number of probes per key that the family takes. The library has no limit.
const maxProbes = 255
