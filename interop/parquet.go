package interop

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// parquet is the Bloom filter of a column chunk, as a Parquet file has it at ColumnMetaData.bloom_filter_offset: a
// BloomFilterHeader in Thrift's compact protocol, then the bitset.
//
//	15, varint    field 1, numBytes: a multiple of 32, as a zigzag varint of 1 to 5 bytes
//	1c 1c 00 00   field 2, algorithm: a union with one empty struct, BLOCK
//	1c 1c 00 00   field 3, hash: XXHASH
//	1c 1c 00 00   field 4, compression: UNCOMPRESSED
//	00            end of the header
//	numBytes      bitset: blocks of 8 words of 32 bits, little endian
//
// A key is the plain encoding of a value without the length of a BYTE_ARRAY: the bytes of a string, the 8 bytes of an
// INT64, little endian (Keyed[uint64]), the 4 bytes of an INT32, little endian.
var parquet = codec{
	format: Parquet, hash: filter.XXH64,
	head: func(r *reader) header {
		if b := r.bytes(1); b[0] != 0x15 {
			r.fail(ErrFormat, "a header that begins with byte %#x, want 0x15", b[0])
		}
		var varint []byte
		for last := byte(0x80); last&0x80 != 0; {
			if len(varint) == 5 {
				r.fail(filter.ErrCorrupt, "numBytes of more than 5 bytes")
			}
			last = r.bytes(1)[0]
			varint = append(varint, last)
		}
		size, _ := binary.Varint(varint)
		if len(varint) > 1 && varint[len(varint)-1] == 0 || size <= 0 || size > math.MaxInt32 || size%32 != 0 {
			r.fail(filter.ErrCorrupt, "numBytes %d, want a multiple of 32 in the fewest bytes", size)
		}
		rest := r.bytes(len(parquetTail))
		if rest[0] != parquetTail[0] {
			r.fail(ErrFormat, "field %#x after numBytes", rest[0])
		}
		if string(rest) != parquetTail {
			r.fail(ErrForm, "want a header of BLOCK, XXHASH and UNCOMPRESSED, in this order")
		}
		blocks := uint64(size) / 32
		return header{
			spec:  families.UserOf(filter.XXH64).With("blocks", blocks).With("k", 8),
			words: 4 * blocks, keys: estimate(256*blocks, 8),
		}
	},
	marshal: func(e family.Encoded) ([]byte, error) {
		size := 8 * uint64(len(e.Sections[0]))
		if size > math.MaxInt32 {
			return nil, fmt.Errorf("%d bytes, the limit of the header is %d", size, math.MaxInt32)
		}
		return append(binary.AppendVarint([]byte{0x15}, int64(size)), parquetTail...), nil
	},
}

// parquetTail is the header after numBytes.
const parquetTail = "\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x00"
