package interop

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/interop/internal/parquetmeta"
)

// Column is a column chunk of a Parquet file that has a Bloom filter: the values of one column in one row group.
type Column struct {
	Name     string // names in the schema with dots between them, from the outermost: addr.city
	RowGroup int    // counted from 0
	Type     string // physical type of the values: INT64, BYTE_ARRAY, ...
	Offset   int64  // of the filter in the file, in bytes
	Length   int64  // of the filter, header included, in bytes
}

// Columns returns the column chunks of a Parquet file of size bytes that have a Bloom filter, in the order of the file.
// It reads the footer, and the header of a filter whose length the footer leaves out. Read then reads a filter:
//
//	set, err := interop.Read(io.NewSectionReader(r, c.Offset, c.Length), interop.Parquet, 1<<30)
//
// Columns keeps at most 64 bytes for each byte of the footer. The error is one of r, or gives the byte offset and
// wraps ErrFormat if r does not begin as a Parquet file, ErrForm if it is encrypted or if its data lies in other files,
// filter.ErrCorrupt, or io.ErrUnexpectedEOF if the file does not end as one.
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
		columns[i] = Column{strings.Join(c.Path, "."), c.RowGroup, c.Type, c.Offset, c.Length}
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
