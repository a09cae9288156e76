package keyio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// recordSlack is the number of bytes that a row of CSV or TSV may have beyond MaxKey.
const recordSlack = 1 << 20

// ErrRecordTooLong means that a row of CSV or TSV is longer than Options.MaxKey + 1 MiB.
var ErrRecordTooLong = errors.New("record is too long; is a closing quote missing?")

// readCSV packs the keys of a CSV stream into blocks. It parses in the reader goroutine, because the end of a record
// depends on all quotes before it.
func (r *reader) readCSV(st *stream) error {
	set := &r.in.set
	limited := &recordReader{ctx: r.ctx, r: st, name: st.name, left: set.MaxKey + recordSlack, keep: set.Rows,
		comments: []byte(set.Comments), takeNUL: set.BadRows == Skip}
	br := bufio.NewReaderSize(limited, 64<<10)
	rows := csv.NewReader(br) // uses br without a second buffer, since br is large enough
	rows.Comma = set.Delimiter
	rows.Comment, _ = utf8.DecodeRuneInString(set.Comments + "\x00") // 0 is none
	rows.FieldsPerRecord = -1                                        // rows may differ in length; addRow checks that they have the column
	rows.ReuseRecord = true
	// next returns a row. If the row is bad, whole reports whether the next row can be read.
	next := func() (row []string, whole bool, err error) {
		start := rows.InputOffset()
		limited.left = set.MaxKey + recordSlack
		row, err = rows.Read()
		switch {
		case err == nil && limited.nul && slices.ContainsFunc(row, hasNUL):
			line, _ := rows.FieldPos(0)
			return nil, true, nulError(st.name, int64(line), CSV)
		case err == nil || limited.err == nil && err == io.EOF:
			return row, true, err
		}
		whole, err = csvError(st, limited.err, err, start)
		return nil, whole, err
	}

	b, err := r.takeBlock(st.name)
	if err != nil {
		return err
	}

	at := set.columns
	if set.Header {
		row, _, err := next()
		if err != nil && err != io.EOF {
			return err
		}
		if at, err = r.useHeader(b, limited.takeRow(rows.InputOffset()), row); err != nil {
			return err
		}
	}

	for {
		row, whole, err := next()
		if err == io.EOF {
			r.passOn(b)
			return nil
		}
		raw := limited.takeRow(rows.InputOffset()) // a bad row is dropped
		if err == nil {
			err = b.addRow(set, at, rows, row, raw)
		}
		if whole {
			err = b.bad.skipOrStop(set, err)
		}
		if err != nil {
			r.passOn(b) // the rows before it
			return err
		}
		// Empty keys take room too. In a live stream, send the block before waiting for the next row.
		if len(b.data)+len(b.ends) >= r.in.set.BlockSize || st.live && br.Buffered() == 0 {
			r.passOn(b)
			if b, err = r.takeBlock(st.name); err != nil {
				return err
			}
		}
	}
}

// addRow adds a row for splitFields, unless its key is empty. It returns an error if the row is bad.
func (b *block) addRow(set *settings, at columns, rows *csv.Reader, row []string, raw []byte) error {
	first, _ := rows.FieldPos(0)
	if last := max(at.key, at.second); last >= len(row) {
		return fmt.Errorf("%s:%d: no column %d: the row has %d", b.Input, first, last+1, len(row))
	}

	key := row[at.key]
	if key == "" && !set.KeepEmpty {
		return nil
	}

	line, _ := rows.FieldPos(at.key)
	if len(key) > set.MaxKey {
		return &KeyTooLongError{Input: b.Input, Line: int64(line), MaxKey: set.MaxKey}
	}
	if len(b.ends) == 0 {
		b.Line = int64(line)
	}

	addPart(b, key)
	if set.Rows {
		addPart(b, raw)
	}
	if set.Second != "" {
		addPart(b, row[at.second])
	}
	if set.LineNumbers {
		b.LineNumbers = append(b.LineNumbers, int64(first))
	}
	return nil
}

func hasNUL(field string) bool { return strings.IndexByte(field, 0) >= 0 }

// addPart adds a part of a row for splitFields.
func addPart[T string | []byte](b *block, part T) {
	b.data = append(b.data, part...)
	b.ends = append(b.ends, len(b.data))
}

// header is the header row of an input.
type header struct {
	input string
	names []string
}

// useHeader returns the columns to read in an input whose header row has these names; names is nil if the input is
// empty. raw is the whole row. With Options.Rows the first header row goes to b, and the others must be equal to it.
func (r *reader) useHeader(b *block, raw []byte, names []string) (at columns, err error) {
	set := &r.in.set
	switch {
	case !set.Rows || names == nil:
	case r.head.names == nil:
		b.Header, r.head = raw, header{b.Input, slices.Clone(names)}
	case !slices.Equal(names, r.head.names):
		return at, fmt.Errorf("%s: its header row differs from the header row of %s, so their rows make no table; "+
			"read them one at a time", b.Input, r.head.input)
	}
	if at.key, err = columnOf(b.Input, names, set.Column, set.columns.key); err == nil {
		at.second, err = columnOf(b.Input, names, set.Second, set.columns.second)
	}
	return at, err
}

// columnOf returns the column with that name in a header row, or number if that is not negative.
func columnOf(input string, names []string, name string, number int) (int, error) {
	if number >= 0 {
		return number, nil
	}
	if names == nil {
		return 0, fmt.Errorf("%s is empty, so it has no header row with column %q", input, name)
	}

	column := slices.Index(names, name)
	if column < 0 {
		return 0, fmt.Errorf("%s has no column %q; the columns are %s", input, name, quoteNames(names))
	}
	if again := slices.Index(names[column+1:], name); again >= 0 {
		return 0, fmt.Errorf("%s has two columns %q; give the number %d or %d, and set the header option",
			input, name, column+1, column+again+2)
	}
	return column, nil
}

// quoteNames lists at most 30 names for an error, each cut to 60 characters.
func quoteNames(names []string) string {
	const most = 30
	var quoted []string
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, fmt.Sprintf("%.60q", name))
	}
	if len(names) > most {
		quoted = append(quoted, fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(quoted, ", ")
}

// csvError returns the error for an unreadable row that begins at byte start, and whether the row is known to end in
// its first line. An error of the stream, readErr, takes precedence over the error of the parser that follows from it.
func csvError(st *stream, readErr, err error, start int64) (whole bool, _ error) {
	var parse *csv.ParseError
	switch {
	case readErr == ErrRecordTooLong:
		return false, fmt.Errorf("%s: after byte %d: %w", st.name, start, readErr)
	case errors.As(readErr, new(*UnsupportedError)):
		return false, readErr
	case readErr != nil:
		return false, fmt.Errorf("%w; read up to byte %d", st.wrapError(readErr), start)
	case errors.As(err, &parse) && parse.Line > parse.StartLine:
		return false, fmt.Errorf("%s:%d: the row goes on to line %d, column %d: %w; is it CSV?",
			st.name, parse.StartLine, parse.Line, parse.Column, parse.Err)
	case parse != nil:
		return true, fmt.Errorf("%s:%d: column %d: %w; is it CSV?", st.name, parse.Line, parse.Column, parse.Err)
	}
	return false, fmt.Errorf("%s: %w", st.name, err)
}

// recordReader reads at most left bytes from r, until left is reset for the next record. It stops at an error of r, at
// a NUL byte unless takeNUL is set, and when ctx is done.
type recordReader struct {
	ctx   context.Context
	r     io.Reader
	name  string
	left  int
	lines int64  // number of line ends that were read
	err   error  // the first error other than io.EOF
	keep  bool   // keep the bytes for takeRow
	kept  []byte // the last bytes that were read, if keep is set
	taken int64  // number of bytes before kept
	begun bool   // bytes have been read

	comments []byte // what a comment begins with, or nothing

	takeNUL bool // continue at a NUL byte
	nul     bool // a NUL byte was read
}

func (l *recordReader) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if l.err = l.ctx.Err(); l.err != nil {
		return 0, l.err
	}
	if l.left <= 0 {
		l.err = ErrRecordTooLong
		return 0, l.err
	}

	n, err := l.r.Read(p[:min(len(p), l.left)])
	if at := bytes.IndexByte(p[:n], 0); at >= 0 {
		l.nul = true
		var stop error
		if !l.begun {
			stop = otherFormat(l.name, p[:n])
		}
		if stop == nil && !l.takeNUL {
			stop = &BadRowError{nulError(l.name, l.lines+1+int64(bytes.Count(p[:at], []byte{'\n'})), CSV)}
		}
		if stop != nil {
			n, err = at, stop
		}
	}

	l.left -= n
	l.lines += int64(bytes.Count(p[:n], []byte{'\n'}))
	l.begun = l.begun || n > 0
	if l.keep {
		l.kept = append(l.kept, p[:n]...)
	}
	if err != io.EOF {
		l.err = err
	}
	return n, err
}

// takeRow returns the bytes from the end of the last row up to offset end as one row, without leading blank lines and
// comments, and with a line end. It returns nil unless keep is set. The row is valid until the next Read.
func (l *recordReader) takeRow(end int64) []byte {
	if !l.keep {
		return nil
	}
	n := int(end - l.taken)
	row := bytes.TrimLeft(l.kept[:n:n], "\r\n")
	for len(l.comments) > 0 && bytes.HasPrefix(row, l.comments) {
		_, row, _ = bytes.Cut(row, []byte{'\n'})
		row = bytes.TrimLeft(row, "\r\n")
	}
	l.kept, l.taken = l.kept[n:], end
	if len(row) > 0 && row[len(row)-1] != '\n' {
		row = append(row, '\n')
	}
	return row
}

// splitFields sets the keys of b from b.data and b.ends, for CSV.
func (b *block) splitFields(s *settings) error {
	start, i := 0, 0
	next := func() []byte {
		part := b.data[start:b.ends[i]:b.ends[i]]
		start = b.ends[i]
		i++
		return part
	}

	keyLine, numbers := b.Line, b.LineNumbers // the numbers include rows that turn out to be bad below
	b.LineNumbers = numbers[:0]
	for row := 0; i < len(b.ends); row++ {
		var raw, second []byte
		key, line := next(), keyLine
		if s.Rows {
			raw = next()
		}
		if s.Second != "" {
			second = next()
		}
		if s.LineNumbers {
			line = numbers[row]
		}

		value, err := b.parseValue(s, line, second)
		if stop := b.bad.skipOrStop(s, err); stop != nil {
			return stop
		}
		if err == nil {
			b.addKey(s, line, key, second, raw, value)
		}
		if row == 0 {
			b.Line = keyLine // addKey has set the line of the row, and the key may begin in a later line
		}
	}
	return nil
}
