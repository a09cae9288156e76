package interop

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/java"
)

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
// A key is the bytes that putBinary takes. putString takes the string in UTF-8, and putLong hashes as the 8 bytes of
// the number, little endian (Keyed[uint64]). put takes a Byte, Short or Integer as putLong.
var sparkFile = codec{
	format: Spark, bigEnd: true, hash: filter.Murmur3x86,
	head: func(r *reader) header {
		b := r.bytes(12)
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
			words = binary.BigEndian.Uint32(r.bytes(4))
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
	marshal: func(e family.Encoded) ([]byte, error) {
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
