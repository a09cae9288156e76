// Package parquet reads keys from a column of Parquet files, as a steps.Format. Ranges are row groups.
//
// A column is named by its path, such as "user.email", and may be optional; nulls are no keys. Lists are columns too:
// each element is a key. The key of a value is
//
//	BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY    the bytes: for a string its UTF-8
//	INT64                               8 bytes, little endian
//
// Other types are an error, because an INT32 or a DOUBLE could be written as a key in more than one way.
//
// A column of values, KeyFormat.ValueColumn, has the type INT32 or INT64 and contains a whole number for each key. Then
// neither column is in a list.
//
// # Limits
//
// Files are decoded by github.com/parquet-go/parquet-go. Panics of the decoder and errors name the file. A footer of
// more than 256 MiB is an error. The decoder reads the size of a page from the page's header, so a hostile file can
// make it allocate up to 2 GiB. For pages of LZ4_RAW it has no limit at all, so columns with this compression are an
// error.
package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bloomery/bloomery/internal/steps"
)

// Name is the name of the format.
const Name = "parquet"

const (
	maxFooter  = 256 << 20 // bytes
	readBuffer = 1 << 20   // bytes of a column that are read at once
)

// Format reads a column of Parquet files.
//
// A span is a number of bytes. Row groups lie one after the other, each as long as its compressed columns, and belong
// to the span in which they begin.
type Format struct{}

// Split divides a file before row groups, into spans of about size bytes, all columns counted.
func (Format) Split(ctx context.Context, in steps.Source, o steps.Object, size int64) (
	[]steps.Span, error,
) {
	f, err := openFile(ctx, in, o)
	if err != nil {
		return nil, err
	}

	spans := []steps.Span{{Offset: 0, Length: o.Size}}
	starts := starts(f, o)
	for i, at := range starts {
		next := o.Size
		if i+1 < len(starts) {
			next = starts[i+1]
		}
		last := &spans[len(spans)-1]
		if next-last.Offset > size && at > last.Offset && at < o.Size {
			last.Length = at - last.Offset
			spans = append(spans, steps.Span{Offset: at, Length: o.Size - at})
		}
	}
	return spans, nil
}

// starts returns where the row groups begin, in [0, o.Size].
func starts(f *parquet.File, o steps.Object) (at []int64) {
	next := int64(0)
	for _, g := range f.Metadata().RowGroups {
		at = append(at, next)
		next += min(max(g.TotalCompressedSize, 0), o.Size-next)
	}
	return at
}

// within reports whether a row group that begins at a position belongs to a span.
func within(at int64, s steps.Span, o steps.Object) bool {
	return at >= s.Offset && (at < s.Offset+s.Length || s.Offset+s.Length == o.Size)
}

// openFile reads the footer of a file.
func openFile(ctx context.Context, in steps.Source, o steps.Object) (f *parquet.File, err error) {
	defer caught(o.Name, &err)
	r := &object{ctx, in, o}
	var tail [8]byte
	if o.Size < 12 {
		return nil, errors.New("too short for a Parquet file")
	}
	if _, err := r.ReadAt(tail[:], o.Size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != "PAR1" {
		return nil, errors.New("not a Parquet file, or an encrypted one")
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > min(o.Size-12, maxFooter) {
		return nil, fmt.Errorf("the footer has %d bytes", n)
	}
	return parquet.OpenFile(r, o.Size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(readBuffer), parquet.FileReadMode(parquet.ReadModeSync))
}

// caught turns a panic of the decoder into an error and names the file.
func caught(name string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged Parquet file: %v", p)
	}
	if *err != nil && !strings.Contains((*err).Error(), name) {
		*err = fmt.Errorf("%s: %w", name, *err)
	}
}

// leafColumn returns a column of keys or of values, which has one of these types.
func leafColumn(f *parquet.File, what, path string, kinds ...parquet.Kind) (parquet.LeafColumn, error) {
	if path == "" {
		return parquet.LeafColumn{}, fmt.Errorf("name the column of the %s", what)
	}

	c, found := f.Schema().Lookup(strings.Split(path, ".")...)
	if !found {
		return c, fmt.Errorf("no column %q; the columns are %s", path, columns(f))
	}
	if kind := c.Node.Type().Kind(); !slices.Contains(kinds, kind) {
		return c, fmt.Errorf("column %q has the type %v; %s have one of %v", path, kind, what, kinds)
	}

	for _, g := range f.Metadata().RowGroups {
		if g.Columns[c.ColumnIndex].MetaData.Codec == format.Lz4Raw {
			return c, fmt.Errorf("column %q is compressed with %v, of which a damaged page takes all memory; "+
				"write it with zstd, snappy or gzip", path, format.Lz4Raw)
		}
	}
	return c, nil
}

// keyLeaf returns the column of the keys.
func keyLeaf(f *parquet.File, k steps.KeyFormat) (parquet.LeafColumn, error) {
	return leafColumn(f, "keys", k.Column, parquet.ByteArray, parquet.FixedLenByteArray, parquet.Int64)
}

// valueLeaf returns the column of the values beside the keys in column key.
func valueLeaf(f *parquet.File, k steps.KeyFormat, key parquet.LeafColumn) (parquet.LeafColumn, error) {
	c, err := leafColumn(f, "values", k.ValueColumn, parquet.Int32, parquet.Int64)
	if err == nil && (c.MaxRepetitionLevel > 0 || key.MaxRepetitionLevel > 0) {
		err = fmt.Errorf("column %q or %q is in a list; each key needs one value", k.Column, k.ValueColumn)
	}
	return c, err
}

// columns lists at most 30 columns for an error.
func columns(f *parquet.File) string {
	var names []string
	for i, path := range f.Schema().Columns() {
		if i == 30 {
			names = append(names, "...")
			break
		}
		names = append(names, fmt.Sprintf("%q", strings.Join(path, ".")))
	}
	return strings.Join(names, ", ")
}

// object is an object as an io.ReaderAt.
type object struct {
	ctx context.Context
	in  steps.Source
	o   steps.Object
}

func (r *object) ReadAt(b []byte, offset int64) (int, error) {
	if offset < 0 || offset >= r.o.Size {
		return 0, io.EOF
	}

	p, err := r.in.Open(r.ctx, r.o.Name, offset, min(int64(len(b)), r.o.Size-offset))
	if err != nil {
		return 0, err
	}
	defer p.Close()
	n, err := io.ReadFull(p, b)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}
