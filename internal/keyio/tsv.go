package keyio

import (
	"bytes"
	"fmt"
	"strings"
)

// headerOf takes the header row off a block of a TSV stream, and returns the columns to read. The header is missing
// if there are only blank lines so far; at the end of the stream, that is an error if the column has a name.
func (r *reader) headerOf(b *block, eof bool) (at columns, missing bool, err error) {
	if err := b.checkText(TSV); err != nil { // the names of UTF-16 text would be unknown
		return at, false, err
	}
	b.first = false
	for len(b.data) > 0 {
		end := bytes.IndexByte(b.data, '\n') + 1
		row := bytes.Clone(b.data[:end])
		b.data = append(b.data[:0], b.data[end:]...) // keeps the capacity of the block
		b.Line++
		b.lines--
		if line := trimEnd(row); len(line) > 0 {
			at, err = r.useHeader(b, row, strings.Split(string(line), "\t"))
			return at, false, err
		}
	}
	if eof {
		at, err = r.useHeader(b, nil, nil)
	}
	return at, true, err
}

// trimEnd returns a line without its line end, LF or CRLF.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// splitTSV sets b.Keys and, with Options.Rows, b.Rows from b.data.
func (b *block) splitTSV(s *settings) error {
	data := b.data
	first := -1 // offset of the first row with a key
	for start, end := 0, 0; start < len(data); start = end {
		end = start + bytes.IndexByte(data[start:], '\n') + 1
		row := trimEnd(data[start:end])
		if len(row) == 0 {
			continue
		}
		key, err := b.field(start, row, b.columns.key)
		if err != nil {
			return err
		}
		if len(key) > s.MaxKey {
			return b.tooLong(start, s)
		}
		if len(key) == 0 && !s.KeepEmpty {
			continue
		}
		if first < 0 {
			first = start
		}
		b.Keys = append(b.Keys, key)
		if s.Second != "" {
			second, err := b.field(start, row, b.columns.second)
			if err != nil {
				return err
			}
			b.Second = append(b.Second, second)
		}
		if s.Rows {
			b.Rows = append(b.Rows, data[start:end:end])
		}
	}
	if first > 0 {
		b.Line = b.lineAt(first, '\n')
	}
	return nil
}

// field returns a column of the row that begins at start of b.data.
func (b *block) field(start int, row []byte, column int) ([]byte, error) {
	left := row
	for i := range column {
		at := bytes.IndexByte(left, '\t')
		if at < 0 {
			return nil, fmt.Errorf("%s:%d: no column %d: the row has %d", b.Input, b.lineAt(start, '\n'), column+1, i+1)
		}
		left = left[at+1:]
	}
	if at := bytes.IndexByte(left, '\t'); at >= 0 {
		left = left[:at]
	}
	return left[:len(left):len(left)], nil
}
