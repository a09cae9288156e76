// Package parquetmeta finds the Bloom filters of a Parquet file in its footer. It reads no data and needs no Parquet
// library. The footer is a FileMetaData in Thrift's compact protocol; it reads these fields of it and skips all others.
//
//	magic "PAR1", data, FileMetaData, its length (4 bytes, little endian), magic "PAR1"
//
//	FileMetaData     2 schema: list of SchemaElement; 4 row_groups: list of RowGroup
//	RowGroup         1 columns: list of ColumnChunk
//	ColumnChunk      1 file_path: the data lies in another file; 3 meta_data
//	ColumnMetaData   1 type, 3 path_in_schema: list of names, 14 bloom_filter_offset, 15 bloom_filter_length
//
// Input may be hostile: every length is checked against the bytes that are left, and nesting is limited.
package parquetmeta

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// Magic is the beginning and the end of a Parquet file with a plain footer.
const Magic = "PAR1"

// Chunk is a column chunk with a Bloom filter.
type Chunk struct {
	Path     []string // names in the schema, from the outermost
	RowGroup int      // counted from 0
	Type     string   // physical type of the values: INT64, BYTE_ARRAY, ...
	Offset   int64    // offset of the filter in the file, in bytes
	Length   int64    // length of the filter in bytes; 0 if the footer does not contain it

	Form   filter.KeyForm // form of the keys, from the schema
	column int            // number of the column among the leaves of the schema
}

// Errors about a file that has the format.
var (
	// ErrEncrypted means that the footer is encrypted.
	ErrEncrypted = errors.New("the footer is encrypted")
	// ErrElsewhere means that all data is in other files, as for a file named _metadata.
	ErrElsewhere = errors.New("the column chunks lie in other files")
)

// maxPath is the largest number of names in the path of a column.
const maxPath = 256

// tail is the length of the bytes after FileMetaData.
const tail = 4 + len(Magic)

// Has reports whether r begins like a Parquet file. It reads 4 bytes.
func Has(r io.ReaderAt) bool {
	var b [len(Magic)]byte
	n, _ := r.ReadAt(b[:], 0)
	return n == len(b) && string(b[:]) == Magic
}

// Read returns the column chunks of a Parquet file of size bytes that have a Bloom filter, in the order of the footer.
// It keeps at most 64 bytes for each byte of the footer. Offset and Length lie within the file. The error comes from r,
// or gives the byte offset and wraps filter.ErrCorrupt, io.ErrUnexpectedEOF, ErrEncrypted or ErrElsewhere.
func Read(r io.ReaderAt, size int64) ([]Chunk, error) {
	if size < int64(len(Magic)+tail) {
		return nil, container.Broken(uint64(size), "end of a Parquet file before its footer", io.ErrUnexpectedEOF)
	}

	var end [tail]byte
	if _, err := r.ReadAt(end[:], size-int64(tail)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}

	switch {
	// A file with an encrypted footer ends with this magic instead of PAR1.
	case string(end[4:]) == "PARE":
		return nil, container.Broken(uint64(size)-4, "Parquet footer", ErrEncrypted)
	case string(end[4:]) != Magic:
		const text = "end of a Parquet file before its footer, which ends with PAR1"
		return nil, container.Broken(uint64(size), text, io.ErrUnexpectedEOF)
	}

	length := int64(binary.LittleEndian.Uint32(end[:]))
	first := size - int64(tail) - length
	if first < int64(len(Magic)) {
		return nil, container.Broken(uint64(size)-uint64(tail), "a Parquet footer that is longer than the file",
			filter.ErrCorrupt)
	}

	in := &input{r: bufio.NewReader(io.NewSectionReader(r, first, length)), left: length, at: first}
	f := footer{end: first}
	in.structure(f.readField)
	if in.err != nil {
		return nil, in.err
	}
	if len(f.chunks) == 0 && f.elsewhere {
		return nil, container.Broken(uint64(first), "Parquet footer", ErrElsewhere)
	}
	for i := range f.chunks {
		if c := &f.chunks[i]; c.column < len(f.leaves) {
			c.Form = f.leaves[c.column]
		}
	}
	return f.chunks, nil
}

// footer is the part of the footer read so far.
type footer struct {
	end       int64 // end of the data; the filters are before it
	groups    int   // number of row groups so far
	leaves    []filter.KeyForm
	chunks    []Chunk
	elsewhere bool // a column chunk is in another file
}

// readField reads a field of FileMetaData.
func (f *footer) readField(in *input, id int, kind byte) bool {
	if id == 2 {
		return in.readList(kind, kindStruct, func() { f.readElement(in) })
	}
	return id == 4 && in.readList(kind, kindStruct, func() {
		column := 0
		in.structure(func(in *input, id int, kind byte) bool {
			return id == 1 && in.readList(kind, kindStruct, func() {
				f.readChunk(in, column)
				column++
			})
		})
		f.groups++
	})
}

// readChunk reads a ColumnChunk.
func (f *footer) readChunk(in *input, column int) {
	c := Chunk{RowGroup: f.groups, column: column}
	var has, away bool
	in.structure(func(in *input, id int, kind byte) bool {
		switch {
		case id == 1 && kind == kindBinary:
			away = len(in.binary()) > 0
		case id == 3 && kind == kindStruct:
			in.structure(func(in *input, id int, kind byte) bool { return c.readField(in, id, kind, &has) })
		default:
			return false
		}
		return true
	})
	switch {
	case !has || in.err != nil:
	case away:
		f.elsewhere = true
	case c.Offset < int64(len(Magic)) || c.Offset >= f.end || c.Length < 0 || c.Length > f.end-c.Offset:
		in.fail(fmt.Sprintf("the filter of column %q is not within the file", strings.Join(c.Path, ".")), filter.ErrCorrupt)
	default:
		f.chunks = append(f.chunks, c)
	}
}

// readField reads a field of ColumnMetaData. has is set if there is a filter.
func (c *Chunk) readField(in *input, id int, kind byte, has *bool) bool {
	switch {
	case id == 1 && kind == kindI32:
		c.Type = typeName(in.readInt())
	case id == 3:
		c.Path = nil
		return in.readList(kind, kindBinary, func() {
			if len(c.Path) == maxPath {
				in.fail(fmt.Sprintf("a column below %d names", maxPath), filter.ErrCorrupt)
			}
			c.Path = append(c.Path, string(bytes.ToValidUTF8(in.binary(), []byte("?"))))
		})
	case id == 14 && kind == kindI64:
		c.Offset, *has = in.readInt(), true
	case id == 15 && kind == kindI32:
		c.Length = in.readInt()
	default:
		return false
	}
	return true
}

// typeName returns the name of a physical type.
func typeName(n int64) string {
	names := [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	if n >= 0 && n < int64(len(names)) {
		return names[n]
	}
	return "type " + strconv.FormatInt(n, 10)
}
