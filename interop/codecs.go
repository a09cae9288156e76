package interop

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/dcso"
	"github.com/bloomery/bloomery/internal/family/java"
	"github.com/bloomery/bloomery/internal/probe"
)

// codec reads and writes one format: a header, then 64-bit words.
type codec struct {
	format Format
	bigEnd bool // the words are big endian, else little endian
	// head reads and checks the header. The result is meaningless after an error of the reader.
	head func(*reader) header
	// marshal returns the header of a filter of the family. It does not read the words.
	marshal func(*container.File) ([]byte, error)
	width   uint64 // width of the slots of family fuse, in bits; 0 for other families
	tail    bool   // other data of any length may follow the words
	// hash is the hash of the filters that the format can hold. It determines the family, or a form of it: see
	// families.UserOf.
	hash filter.HashID
}

// requiredSpec returns the family of the filters that the format can hold, with the parameters that the format
// requires.
func (c *codec) requiredSpec() filter.Spec {
	s := families.UserOf(c.hash)
	if c.width != 0 {
		s = s.With("width", c.width)
	}
	return s
}

// header is the decoded part of a file before its words.
type header struct {
	spec   filter.Spec
	before [][]uint64                  // the sections before the words
	words  uint64                      // number of 64-bit words, below 2^57
	slots  *slots                      // if not nil, the words are slots, which may end within a word
	keys   func(words []uint64) uint64 // the number of keys, stored or estimated
	rate   float64                     // the planned rate, or 0 if none is stored or the family knows it
	form   *form                       // if not nil, the variant of the format that cannot be read
}

// form is a variant of a format that cannot be read.
type form struct {
	what        string // the reason
	least, most uint64 // bounds of the length of a file in bytes
}

func codecs() []codec {
	return append(append([]codec{parquet, guavaFile, bitsAndBlooms, redisBloom, sparkFile}, fuseFiles...), dcsoFile)
}

// bodyBytes returns the number of bytes after the header.
func (h header) bodyBytes() uint64 {
	if h.slots != nil {
		return h.slots.slotBytes()
	}
	return 8 * h.words
}

// guavaFile is the output of Guava's BloomFilter.writeTo.
//
//	bytes
//	    1  strategy: 0 MURMUR128_MITZ_32, 1 MURMUR128_MITZ_64
//	    1  number of probes per key, 1 to 255
//	    4  number of words, big endian, 1 to 2^31-1
//	    8  each word, big endian
//
// A key has the bytes that the funnel writes: byteArrayFunnel writes the bytes, stringFunnel(UTF_8) the string in
// UTF-8, unencodedCharsFunnel two bytes per char, little endian, longFunnel 8 bytes, little endian (Keyed[uint64]), and
// integerFunnel 4 bytes, little endian.
var guavaFile = codec{
	format: Guava, bigEnd: true, hash: filter.Murmur3,
	head: func(r *reader) header {
		b := r.readBytes(6)
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
	marshal: func(e *container.File) ([]byte, error) {
		s := family.Reader(e.Spec)
		b := []byte{0, byte(s.Uint("k"))}
		if s.Uint("strategy") == 64 {
			b[0] = 1
		}
		return binary.BigEndian.AppendUint32(b, uint32(s.Uint("words"))), s.Err()
	},
}

// sparkFile is the output of BloomFilter.writeTo of Spark (org.apache.spark.util.sketch). All numbers are signed and
// big endian.
//
//	bytes
//	    4  version: 1, or 2 from Spark 4.1 on
//	    4  number of probes per key, 1 to 255; Spark has no limit
//	    4  with version 2: seed of the hash function, 0
//	    4  number of words, 1 to 2^31-1
//	    8  each word
//
// A key has the bytes that putBinary takes. putString uses the string in UTF-8, and putLong the 8 bytes of the number,
// little endian (Keyed[uint64]). put treats a Byte, Short or Integer like putLong.
var sparkFile = codec{
	format: Spark, bigEnd: true, hash: filter.Murmur3x86,
	head: func(r *reader) header {
		b := r.readBytes(12)
		version, k, words := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
		switch {
		case version != 1 && version != 2:
			r.fail(ErrFormat, "version %d, want 1 or 2", int32(version))
		case k == 0 || k > math.MaxInt32:
			r.fail(filter.ErrCorrupt, "%d probes", int32(k))
		}
		var cannot []string
		if version == 2 {
			if seed := words; seed != 0 {
				cannot = append(cannot, fmt.Sprintf("seed %d, want 0, the default of Spark", int32(seed)))
			}
			words = binary.BigEndian.Uint32(r.readBytes(4))
		}
		if k > java.MaxK {
			cannot = append(cannot, fmt.Sprintf("%d probes, want 1 to %d", k, java.MaxK))
		}
		if words == 0 || words > math.MaxInt32 {
			r.fail(filter.ErrCorrupt, "%d words", int32(words))
		}
		if len(cannot) > 0 {
			size := r.at + 8*uint64(words)
			what := fmt.Sprintf("a filter of Spark V%d with %s", version, strings.Join(cannot, ", and "))
			return header{form: &form{what: what, least: size, most: size}}
		}
		spec := families.UserOf(filter.Murmur3x86).With("k", k).With("version", version).With("words", words)
		reached := 64 * uint64(words)
		if version == 1 {
			reached = min(reached, 1<<31)
		}
		return header{spec: spec, words: uint64(words), keys: estimate(max(reached, 1), int(k))}
	},
	marshal: func(e *container.File) ([]byte, error) {
		s := family.Reader(e.Spec)
		version := uint32(s.Uint("version"))
		b := binary.BigEndian.AppendUint32(nil, version)
		b = binary.BigEndian.AppendUint32(b, uint32(s.Uint("k")))
		if version == 2 {
			b = binary.BigEndian.AppendUint32(b, 0)
		}
		return binary.BigEndian.AppendUint32(b, uint32(s.Uint("words"))), s.Err()
	},
}

// bitsAndBlooms is the output of WriteTo, MarshalBinary and GobEncode of github.com/bits-and-blooms/bloom/v3. All
// numbers have 8 bytes and are big endian.
//
//	m       number of bits
//	k       number of probes per key
//	length  bits of the bit set: m, or more if the filter was made from words with FromWithM
//	words   ⌈length/64⌉ of them
//
// A key has the bytes that Add takes. The library does not convert other values.
var bitsAndBlooms = codec{
	format: BitsAndBlooms, bigEnd: true, hash: filter.Murmur3Twice,
	head: func(r *reader) header {
		b := r.readBytes(24)
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
	marshal: func(e *container.File) ([]byte, error) {
		s := family.Reader(e.Spec)
		m := s.Uint("m")
		b := binary.BigEndian.AppendUint64(nil, m)
		b = binary.BigEndian.AppendUint64(b, s.Uint("k"))
		return binary.BigEndian.AppendUint64(b, cmp.Or(s.Uint("length"), m)), s.Err()
	},
}

// maxProbes is the largest number of probes per key that the family accepts. The library has no limit.
const maxProbes = 255

// dcsoFile is the output of WriteFilter of github.com/DCSO/bloom from 0.2 on, not compressed. All numbers have 8 bytes
// and are little endian.
//
//	version   1; 0.1 wrote another format, without a version, which no later version reads
//	capacity  number of keys that the filter was made for, 1 or more
//	rate      false-positive rate that the filter was made for, a float64 above 0 and below 1
//	k         number of probes per key
//	m         number of bits
//	keys      number of keys; the program counts those that set a bit
//	words     ⌈m/64⌉ of them
//	          data of any length that was attached to the filter
//
// A key has the bytes that Add takes; the program adds lines.
var dcsoFile = codec{
	format: DCSO, hash: filter.FNV1, tail: true,
	head: func(r *reader) header {
		var b [6]uint64
		for i, start := 0, r.appendBytes(nil, 48); i < len(b) && r.err == nil; i++ {
			b[i] = littleUint64(start[8*i:])
		}
		room, rate, k, m, keys := b[1], math.Float64frombits(b[2]), b[3], b[4], b[5]
		switch {
		case b[0] != 1:
			r.fail(ErrFormat, "version %d, want 1", b[0])
		case room == 0 || !(rate > 0 && rate < 1) || m == 0:
			r.fail(filter.ErrCorrupt, "%d bits for %d keys at a rate of %g", m, room, rate)
		case k == 0 || k > maxProbes:
			r.fail(ErrFormat, "%d probes, want 1 to %d", k, maxProbes)
		case m >= 1<<62:
			r.fail(filter.ErrTooLarge, "%d bits", m)
		}
		stored := func([]uint64) uint64 { return keys }
		return header{spec: dcso.Spec(m, int(k), room), words: (m + 63) / 64, keys: stored, rate: rate}
	},
	marshal: func(e *container.File) ([]byte, error) {
		s := family.Reader(e.Spec)
		room, k, m := s.Uint("n"), s.Uint("k"), s.Uint("m")
		rate := e.FPRPlanned
		if rate == 0 {
			rate = min(max(probe.FPR(room, m, int(k)), 0x1p-1022), 1-0x1p-53)
		}
		b := binary.LittleEndian.AppendUint64(nil, 1)
		for _, v := range []uint64{room, math.Float64bits(rate), k, m, e.Keys} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b, s.Err()
	},
}
