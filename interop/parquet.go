package interop

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/interop/internal/parquetmeta"
)

// parquet is the Bloom filter of a column chunk, which is at ColumnMetaData.bloom_filter_offset of a Parquet file: a
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
// INT64 or the 4 bytes of an INT32, little endian: see Column.Form.
var parquet = codec{
	format: Parquet, hash: filter.XXH64,
	head: func(r *reader) header {
		if b := r.readBytes(1); b[0] != 0x15 {
			r.fail(ErrFormat, "a header that begins with byte %#x, want 0x15", b[0])
		}
		var varint []byte
		for last := byte(0x80); last&0x80 != 0; {
			if len(varint) == 5 {
				r.fail(filter.ErrCorrupt, "numBytes of more than 5 bytes")
			}
			last = r.readBytes(1)[0]
			varint = append(varint, last)
		}
		size, _ := binary.Varint(varint)
		if len(varint) > 1 && varint[len(varint)-1] == 0 || size <= 0 || size > math.MaxInt32 || size%32 != 0 {
			r.fail(filter.ErrCorrupt, "numBytes %d, want a multiple of 32 in the fewest bytes", size)
		}
		rest := r.readBytes(len(parquetTail))
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
	marshal: func(e *container.File) ([]byte, error) {
		size := 8 * uint64(len(e.Sections[0]))
		if size > math.MaxInt32 {
			return nil, fmt.Errorf("%d bytes, the limit of the header is %d", size, math.MaxInt32)
		}
		return append(binary.AppendVarint([]byte{0x15}, int64(size)), parquetTail...), nil
	},
}

// parquetTail is the header after numBytes.
const parquetTail = "\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x00"

// Column is a column chunk of a Parquet file that has a Bloom filter: the values of one column in one row group.
type Column struct {
	Name     string // names in the schema with dots between them, from the outermost: addr.city
	RowGroup int    // counted from 0
	Type     string // physical type of the values: INT64, BYTE_ARRAY, ...
	Offset   int64  // offset of the filter in the file, in bytes
	Length   int64  // length of the filter, header included, in bytes

	Form filter.KeyForm // form of the keys, from the type in the schema; for ReadAs
}

// Columns returns the column chunks of a Parquet file of size bytes that have a Bloom filter, in the order of the file.
// It reads the footer, and the header of each filter whose length is not in the footer. Then read a filter with ReadAs:
//
//	set, err := interop.ReadAs(io.NewSectionReader(r, c.Offset, c.Length), interop.Parquet, c.Form, 1<<30)
//
// Columns keeps at most 64 bytes for each byte of the footer. The error comes from r, or gives the byte offset and
// wraps ErrFormat if r does not begin like a Parquet file, ErrForm if it is encrypted or its data is in other files,
// filter.ErrCorrupt, or io.ErrUnexpectedEOF if the file does not end like a Parquet file.
func Columns(r io.ReaderAt, size int64) ([]Column, error) {
	if !parquetmeta.Has(r) {
		return nil, container.Broken(0, "a file that does not begin with PAR1", ErrFormat)
	}

	chunks, err := parquetmeta.Read(r, size)
	switch {
	case errors.Is(err, parquetmeta.ErrEncrypted) || errors.Is(err, parquetmeta.ErrElsewhere):
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	case err != nil:
		return nil, err
	}

	columns := make([]Column, len(chunks))
	for i, c := range chunks {
		columns[i] = Column{strings.Join(c.Path, "."), c.RowGroup, c.Type, c.Offset, c.Length, c.Form}
		// Writers before Parquet format 2.10 store no length, so the header of the filter is read for it.
		if c.Length == 0 {
			in := &reader{r: io.NewSectionReader(r, c.Offset, size-c.Offset), max: math.MaxInt64}
			h := parquet.head(in)
			if in.err != nil {
				return nil, fmt.Errorf("the filter of column %q at byte %d: %w", columns[i].Name, c.Offset, in.err)
			}
			if columns[i].Length = int64(in.at + 8*h.words); columns[i].Length > size-c.Offset {
				return nil, container.Broken(uint64(size), "end of the file within a filter", filter.ErrCorrupt)
			}
		}
	}
	return columns, nil
}
