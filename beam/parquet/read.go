package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/keyio"
)

// batchValues is the number of values that are decoded at once.
const batchValues = 4096

// Read reads the keys of the row groups of a span, in one goroutine. Batch.Line is the number of the value in the
// file's column, from 1.
func (Format) Read(
	ctx context.Context, in distribute.Source, o distribute.Object, s distribute.Span, r distribute.Reading,
) (err error) {
	f, err := open(ctx, in, o)
	if err != nil {
		return err
	}
	defer caught(o.Name, &err)
	c, kind, err := leaf(f, r.Keys.Column)
	if err != nil {
		return err
	}
	k := &keys{Reading: r, kind: kind, longest: r.Keys.MaxKey}
	if k.longest == 0 {
		k.longest = keyio.DefaultMaxKey
	}
	k.Input = o.Name
	starts := starts(f, o)
	for i, g := range f.RowGroups() {
		column := g.ColumnChunks()[c]
		if !within(starts[i], s, o) {
			k.value += column.NumValues()
			continue
		}
		if err := k.readGroup(ctx, column); err != nil {
			return err
		}
		if r.Progress != nil {
			r.Progress(starts[i] - s.Offset + max(0, f.Metadata().RowGroups[i].TotalCompressedSize))
		}
	}
	return nil
}

// keys passes on the keys of a column.
type keys struct {
	distribute.Reading
	keyio.Batch
	kind    parquet.Kind
	longest int
	value   int64 // number of values before this batch
	data    []byte
	ends    []int
}

func (k *keys) readGroup(ctx context.Context, c parquet.ColumnChunk) error {
	pages := c.Pages()
	defer pages.Close()
	values := make([]parquet.Value, batchValues)
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		from := page.Values()
		for err == nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var n int
			if n, err = from.ReadValues(values); n > 0 {
				if err := k.send(values[:n]); err != nil {
					return err
				}
			}
		}
		parquet.Release(page)
		if !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// send passes on the keys of some values.
func (k *keys) send(values []parquet.Value) error {
	k.data, k.ends, k.Batch.Keys = k.data[:0], k.ends[:0], k.Batch.Keys[:0]
	k.Line = k.value + 1
	for i := range values {
		v := &values[i]
		switch {
		case v.IsNull():
			continue
		case k.kind == parquet.Int64:
			k.data = binary.LittleEndian.AppendUint64(k.data, uint64(v.Int64()))
		default:
			b := v.ByteArray()
			if len(b) > k.longest {
				return &keyio.KeyTooLongError{Input: k.Input, Line: k.value + int64(i) + 1, MaxKey: k.longest}
			}
			if len(b) == 0 && !k.Reading.Keys.KeepEmpty {
				continue
			}
			k.data = append(k.data, b...)
		}
		k.ends = append(k.ends, len(k.data))
	}
	k.value += int64(len(values))
	start := 0
	for _, end := range k.ends {
		k.Batch.Keys = append(k.Batch.Keys, k.data[start:end:end])
		start = end
	}
	if len(k.Batch.Keys) == 0 {
		return nil
	}
	k.Out, k.Hashes = k.Out[:0], k.Hashes[:0]
	if err := k.Work(&k.Batch); err != nil || k.Emit == nil {
		return err
	}
	return k.Emit(&k.Batch)
}
