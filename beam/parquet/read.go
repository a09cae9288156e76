package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/steps"
)

// batchValues is the number of values that are decoded at once.
const batchValues = 4096

// Read reads the keys of the row groups of a span, and their values, in one goroutine. Batch.Line is the number of the
// key in the file's column, from 1.
func (Format) Read(
	ctx context.Context, in steps.Source, o steps.Object, s steps.Span, r steps.Reading,
) (err error) {
	f, err := openFile(ctx, in, o)
	if err != nil {
		return err
	}
	defer caught(o.Name, &err)
	key, err := keyLeaf(f, r.Keys)
	if err != nil {
		return err
	}

	k := &keys{Reading: r, kind: key.Node.Type().Kind(), longest: r.Keys.MaxKey}
	if k.longest == 0 {
		k.longest = keyio.DefaultMaxKey
	}

	k.Input = o.Name
	var value parquet.LeafColumn
	if r.ValueBits > 0 {
		if value, err = valueLeaf(f, r.Keys, key); err != nil {
			return err
		}
		k.unsigned = unsigned(value.Node.Type())
	}

	starts := starts(f, o)
	for i, g := range f.RowGroups() {
		column := g.ColumnChunks()[key.ColumnIndex]
		if !within(starts[i], s, o) {
			k.value += column.NumValues()
			continue
		}
		var beside parquet.ColumnChunk
		if r.ValueBits > 0 {
			beside = g.ColumnChunks()[value.ColumnIndex]
		}
		if err := k.readGroup(ctx, column, beside); err != nil {
			return err
		}
		if r.Progress != nil {
			before := starts[i] - s.Offset
			r.Progress(before + min(max(0, f.Metadata().RowGroups[i].TotalCompressedSize), s.Length-before))
		}
	}
	return nil
}

// unsigned reports whether a column is one of UINT_8 to UINT_64.
func unsigned(t parquet.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	i, ok := l.Value.(*format.IntType)
	return ok && !i.IsSigned
}

// keys passes on the keys of a column, and the values of another one.
type keys struct {
	steps.Reading
	keyio.Batch
	kind     parquet.Kind
	unsigned bool // whether the values are unsigned
	longest  int
	value    int64 // number of values before this batch
	data     []byte
	ends     []int
}

// readGroup reads the keys of a row group, and their values unless beside is nil.
func (k *keys) readGroup(ctx context.Context, column, beside parquet.ColumnChunk) error {
	from := &reader{pages: column.Pages()}
	defer from.close()
	read, numbers := make([]parquet.Value, batchValues), []parquet.Value(nil)
	var values *reader
	if beside != nil {
		values, numbers = &reader{pages: beside.Pages()}, make([]parquet.Value, batchValues)
		defer values.close()
	}

	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := from.read(read)
		if err == io.EOF {
			return nil
		}
		if err == nil && values != nil {
			err = values.readAll(numbers[:n])
		}
		if err == nil {
			err = k.sendKeys(read[:n], numbers)
		}
		if err != nil {
			return err
		}
	}
}

// reader reads the values of a column of a row group, nulls included.
type reader struct {
	pages parquet.Pages
	page  parquet.Page // nil before the first one
	from  parquet.ValueReader
}

// read reads at least one value. They are valid until the next call. At the end of the column the error is io.EOF.
func (r *reader) read(dst []parquet.Value) (int, error) {
	for {
		if r.page != nil {
			n, err := r.from.ReadValues(dst)
			if err != nil && !errors.Is(err, io.EOF) {
				return 0, err
			}
			if n > 0 {
				return n, nil
			}
			if err == nil {
				return 0, io.ErrNoProgress
			}
			r.release()
		}
		page, err := r.pages.ReadPage()
		if err != nil {
			return 0, err
		}
		r.page, r.from = page, page.Values()
	}
}

// readAll reads as many values as dst has room for. They must not refer to their page.
func (r *reader) readAll(dst []parquet.Value) error {
	for len(dst) > 0 {
		n, err := r.read(dst)
		if err == io.EOF {
			return errors.New("the column of the values is shorter than the column of the keys")
		}
		if err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

func (r *reader) release() {
	if r.page != nil {
		parquet.Release(r.page)
		r.page = nil
	}
}

func (r *reader) close() {
	r.release()
	_ = r.pages.Close()
}

// sendKeys emits the keys in values as one batch. If the keys have values, numbers contains the value of each key.
func (k *keys) sendKeys(values, numbers []parquet.Value) error {
	k.data, k.ends, k.Batch.Keys, k.Values = k.data[:0], k.ends[:0], k.Batch.Keys[:0], k.Values[:0]
	k.Line = k.value + 1
	for i := range values {
		v := &values[i]
		start := len(k.data)
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
		if numbers != nil {
			n, reason := k.number(&numbers[i])
			if reason != "" {
				return fmt.Errorf("%s: key %.80q: %s", k.Input, k.data[start:], reason)
			}
			k.Values = append(k.Values, n)
		}
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

// number returns the value of a key, or an error that explains why v is not a value.
func (k *keys) number(v *parquet.Value) (n uint64, reason string) {
	switch {
	case v.IsNull():
		return 0, "it has no value"
	case v.Kind() == parquet.Int32 && k.unsigned:
		return uint64(v.Uint32()), ""
	case v.Kind() == parquet.Int32:
		n = uint64(int64(v.Int32()))
	default:
		n = v.Uint64()
	}
	if n>>63 != 0 && !k.unsigned {
		return 0, fmt.Sprintf("value %d: want a whole number from 0 on", int64(n))
	}
	return n, ""
}
