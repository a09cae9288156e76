package keyio

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	// recordSlack is the number of bytes that a CSV record may have beyond MaxKey.
	recordSlack = 1 << 20
	// bom is the byte order mark in UTF-8, which spreadsheets write at the start of a CSV file.
	bom = "\xef\xbb\xbf"
)

var errRecordTooLong = errors.New("record is too long; is a closing quote missing?")

// readCSV packs the keys of a CSV stream into blocks. It parses in the reader goroutine, because the end of a record
// depends on all quotes before it.
func (r *reader) readCSV(st *stream) error {
	limited := &recordReader{ctx: r.ctx, r: st, left: r.in.set.MaxKey + recordSlack}
	br := bufio.NewReaderSize(limited, 64<<10)
	if head, _ := br.Peek(1); string(head) == bom[:1] { // a live stream without one must not wait for three bytes
		if head, _ := br.Peek(len(bom)); string(head) == bom {
			br.Discard(len(bom))
		}
	}
	rows := csv.NewReader(br) // uses br without a second buffer, since br is large enough
	rows.FieldsPerRecord = -1 // rows may differ in length; the column is checked below
	rows.ReuseRecord = true
	next := func() ([]string, error) {
		limited.left = r.in.set.MaxKey + recordSlack
		row, err := rows.Read()
		if err == nil || limited.err == nil && err == io.EOF {
			return row, err
		}
		return nil, csvError(st, limited.err, err, rows)
	}

	column, err := r.header(st.name, next)
	if err != nil {
		return err
	}
	b, err := r.take(st.name)
	if err != nil {
		return err
	}
	for {
		row, err := next()
		if err == io.EOF {
			r.send(b)
			return nil
		}
		if err != nil {
			return err
		}
		if column >= len(row) {
			line, _ := rows.FieldPos(0)
			return fmt.Errorf("%s:%d: no column %d: the row has %d", st.name, line, column+1, len(row))
		}
		if key := row[column]; key != "" || r.in.set.KeepEmpty {
			line, _ := rows.FieldPos(column)
			if len(key) > r.in.set.MaxKey {
				return &KeyTooLongError{Input: st.name, Line: int64(line), MaxKey: r.in.set.MaxKey}
			}
			if len(b.ends) == 0 {
				b.Line = int64(line)
			}
			b.data = append(b.data, key...)
			b.ends = append(b.ends, len(b.data))
		}
		// Empty keys take room too. In a live stream, send the block before waiting for the next row.
		if len(b.data)+len(b.ends) >= r.in.blockSize || st.live && br.Buffered() == 0 {
			r.send(b)
			if b, err = r.take(st.name); err != nil {
				return err
			}
		}
	}
}

// header reads the header row if the options ask for one, and returns the column of the keys, counted from 0.
func (r *reader) header(input string, next func() ([]string, error)) (int, error) {
	if !r.in.set.Header {
		return r.in.set.column, nil
	}
	row, err := next()
	switch {
	case err == io.EOF && r.in.set.column >= 0:
		return r.in.set.column, nil
	case err == io.EOF:
		return 0, fmt.Errorf("%s is empty, so it has no header row with column %q", input, r.in.set.Column)
	case err != nil || r.in.set.column >= 0:
		return r.in.set.column, err
	}
	column := slices.Index(row, r.in.set.Column)
	if column < 0 {
		return 0, fmt.Errorf("%s has no column %q; the columns are %s", input, r.in.set.Column, quoteNames(row))
	}
	if again := slices.Index(row[column+1:], r.in.set.Column); again >= 0 {
		return 0, fmt.Errorf("%s has two columns %q; give the number %d or %d, and set the header option",
			input, r.in.set.Column, column+1, column+again+2)
	}
	return column, nil
}

// quoteNames lists at most 30 names of at most 60 bytes for an error.
func quoteNames(names []string) string {
	const maxNames, maxName = 30, 60
	var quoted []string
	for i, name := range names {
		if i == maxNames {
			quoted = append(quoted, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		if len(name) > maxName {
			name = name[:maxName] + "..."
		}
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return strings.Join(quoted, ", ")
}

// csvError returns the error for a row that could not be read. An error of the stream, readErr, takes precedence over
// the error of the parser that follows from it.
func csvError(st *stream, readErr, err error, rows *csv.Reader) error {
	var parse *csv.ParseError
	switch {
	case readErr == errRecordTooLong:
		return fmt.Errorf("%s: after byte %d: %w", st.name, rows.InputOffset(), readErr)
	case readErr != nil:
		return st.wrap(readErr)
	case errors.As(err, &parse):
		return fmt.Errorf("%s:%d: column %d: %w; is it CSV?", st.name, parse.Line, parse.Column, parse.Err)
	}
	return fmt.Errorf("%s: %w", st.name, err)
}

// recordReader reads at most left bytes from r, until left is reset for the next record. It stops at an error of r and
// when ctx is done.
type recordReader struct {
	ctx  context.Context
	r    io.Reader
	left int
	err  error // the first error other than io.EOF
}

func (l *recordReader) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if l.err = l.ctx.Err(); l.err != nil {
		return 0, l.err
	}
	if l.left <= 0 {
		l.err = errRecordTooLong
		return 0, l.err
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	if err != io.EOF {
		l.err = err
	}
	return n, err
}

// splitFields sets b.Keys from b.data and b.ends, for CSV.
func (b *block) splitFields() {
	b.Keys = slices.Grow(b.Keys, len(b.ends))
	start := 0
	for _, end := range b.ends {
		b.Keys = append(b.Keys, b.data[start:end:end])
		start = end
	}
}
