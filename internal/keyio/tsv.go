package keyio

import (
	"bytes"
	"fmt"
	"strings"
)

// headerOf takes the header row off a block of a TSV stream, and returns the columns to read. The header is missing
// if there are only blank lines so far; at the end of the stream, that is an error if the column has a name.
func (r *reader) headerOf(b *block, eof bool) (at columns, missing bool, err error) {
	if bytes.IndexByte(b.data, 0) >= 0 {
		if err := b.otherFormat(); err != nil { // the names of UTF-16 text would be unknown
			return at, false, err
		}
	}
	b.first = false
	for len(b.data) > 0 {
		end := bytes.IndexByte(b.data, '\n') + 1
		row := bytes.Clone(b.data[:end])
		if bytes.IndexByte(row, 0) >= 0 {
			return at, false, nulError(b.Input, b.Line, TSV)
		}
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
	line := b.Line
	for start, end := 0, 0; start < len(data); start, line = end, line+1 {
		end = start + bytes.IndexByte(data[start:], '\n') + 1
		row := trimEnd(data[start:end])
		if len(row) == 0 {
			continue
		}
		key, second, value, err := b.fields(s, line, row)
		if stop := b.bad.skip(s, err); stop != nil {
			return stop
		}
		if err != nil || len(key) == 0 && !s.KeepEmpty {
			continue
		}
		if len(b.Keys) == 0 {
			b.Line = line
		}
		b.Keys = append(b.Keys, key)
		if s.Second != "" {
			b.Second = append(b.Second, second)
		}
		if s.Parse != nil {
			b.Values = append(b.Values, value)
		}
		if s.Rows {
			b.Rows = append(b.Rows, data[start:end:end])
		}
		if s.LineNumbers {
			b.LineNumbers = append(b.LineNumbers, line)
		}
	}
	return nil
}

// fields returns the key of a row and, with Options.Second, that field and what Options.Parse makes of it. It returns
// an error if the row is bad.
func (b *block) fields(s *settings, line int64, row []byte) (key, second []byte, value uint64, err error) {
	if len(row) > s.MaxKey+recordSlack {
		return nil, nil, 0, b.rowTooLong(s, line)
	}
	if key, err = b.field(line, row, b.columns.key); err == nil {
		err = b.check(s, line, row, key)
	}
	if err != nil || s.Second == "" || len(key) == 0 && !s.KeepEmpty {
		return key, nil, 0, err
	}
	if second, err = b.field(line, row, b.columns.second); err == nil {
		value, err = b.parse(s, line, second)
	}
	return key, second, value, err
}

// field returns a column of a row.
func (b *block) field(line int64, row []byte, column int) ([]byte, error) {
	left := row
	for i := range column {
		at := bytes.IndexByte(left, '\t')
		if at < 0 {
			return nil, fmt.Errorf("%s:%d: no column %d: the row has %d", b.Input, line, column+1, i+1)
		}
		left = left[at+1:]
	}
	if at := bytes.IndexByte(left, '\t'); at >= 0 {
		left = left[:at]
	}
	return left[:len(left):len(left)], nil
}

// parse returns the value that Options.Parse, if set, makes of a field, or an error that names the line.
func (b *block) parse(s *settings, line int64, second []byte) (value uint64, err error) {
	if s.Parse == nil {
		return 0, nil
	}
	if value, err = s.Parse(second); err != nil {
		err = fmt.Errorf("%s:%d: %w", b.Input, line, err)
	}
	return value, err
}

func (b *block) rowTooLong(s *settings, line int64) error {
	return fmt.Errorf("%s:%d: row is longer than %d bytes; is it TSV?", b.Input, line, s.MaxKey+recordSlack)
}
