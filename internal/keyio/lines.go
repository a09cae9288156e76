package keyio

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
)

// readLines cuts a stream into blocks of whole lines. Every block ends in a line end, which is added to the last line
// of the stream if it has none.
func (r *reader) readLines(st *stream) error {
	line, at, header := int64(1), r.in.set.columns, r.in.set.Header
	for eof := false; !eof; {
		b, err := r.takeBlock(st.name)
		if err != nil {
			return err
		}
		b.Line, b.first = line, line == 1
		b.data = append(b.data, r.carry...)
		var cut int
		var readErr error // reported after the lines before it
		cut, eof, readErr = r.fillBlock(b, st)
		r.carry = append(r.carry[:0], b.data[cut:]...)
		b.data = b.data[:cut]
		b.lines = bytes.Count(b.data, []byte{r.in.set.end})
		line += int64(b.lines)
		if header {
			if at, header, err = r.headerOf(b, eof); err != nil {
				return err
			}
		}
		b.columns = at
		r.passOn(b)
		if readErr != nil {
			return readErr
		}
	}
	return nil
}

// fillBlock reads into b, which is empty or holds the beginning of a line. It stops when b is full, at the end of the
// stream, and, in a live stream, after a Read that completes a line. It returns the length of the whole lines in
// b.data, which is 0 only at the end of an empty stream and with an error.
//
// The buffer of a block grows only while it holds an incomplete single line, up to the longest line allowed. For a
// longer line that is skipped, it holds only the beginning.
func (r *reader) fillBlock(b *block, st *stream) (cut int, eof bool, err error) {
	maxLine := r.in.set.maxRow() + len("\r\n")
	buf := b.data
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(max(len(buf), r.in.set.BlockSize), max(maxLine-len(buf), 1)))
		}
		n, err := st.Read(buf[len(buf):cap(buf)])
		old := len(buf)
		buf = buf[:old+n]
		if i := bytes.LastIndexByte(buf[old:], r.in.set.end); i >= 0 {
			cut = old + i + 1
		}
		b.data = buf
		switch {
		case err == io.EOF:
			if cut < len(buf) {
				b.data, b.ended = append(buf, r.in.set.end), true
			}
			return len(b.data), true, nil
		case err != nil:
			lines := b.Line - 1 + int64(bytes.Count(buf[:cut], []byte{r.in.set.end}))
			return cut, false, fmt.Errorf("%w; %d lines were read", st.wrapError(err), lines)
		case cut > 0 && (len(buf) == cap(buf) || st.live):
			return cut, false, nil
		case r.ctx.Err() != nil: // an endless line never leaves this loop otherwise
			return 0, false, context.Cause(r.ctx)
		case cut == 0 && len(buf) >= maxLine && r.in.set.BadRows == Skip:
			buf = buf[:maxLine] // these bytes are enough for splitKeys to see that the line is too long
		case cut == 0 && len(buf) >= maxLine:
			return 0, false, &BadRowError{b.rowTooLong(&r.in.set, b.Line)}
		}
	}
}

// splitKeys sets the keys of b from b.data, up to the first bad row whose error it returns.
func (b *block) splitKeys(s *settings) error {
	b.prepared = b.prepared[:0]
	switch s.Format {
	case CSV:
		return b.splitFields(s)
	case Lines, TSV, Fields, JSONL:
		if b.nul = bytes.IndexByte(b.data, 0) >= 0; b.nul {
			if err := b.otherFormat(); err != nil {
				return err
			}
		}
	}

	if s.Format == JSONL {
		b.startObjects(s)
	}
	isPlain := (s.Format == Lines || s.Format == Null) && !b.nul && !s.LineNumbers && !s.Rows &&
		s.Comments == "" && !s.Trim && !s.Lower
	if isPlain && b.splitGood(s) {
		return nil
	}
	return b.splitRows(s)
}

// splitGood is splitRows for lines without NUL bytes, if no line numbers are needed. It returns false and changes
// nothing if a line is too long.
func (b *block) splitGood(s *settings) bool {
	data := b.data
	keys := slices.Grow(b.Keys, b.lines)
	skipped := 0 // empty lines before the first key
	for start, end := 0, 0; start < len(data); start = end + 1 {
		// IndexByte is as fast as word arithmetic on eight bytes at a time for lines of 20 bytes, and faster for longer
		// lines. Two workers keep up with a reader that copies from the page cache.
		end = start + bytes.IndexByte(data[start:], s.end)
		stop := end
		if stop > start && data[stop-1] == '\r' && s.end == '\n' {
			stop--
		}
		if stop-start > s.MaxKey {
			return false
		}
		if stop == start && !s.KeepEmpty {
			if len(keys) == 0 {
				skipped++
			}
			continue
		}
		keys = append(keys, data[start:stop:stop])
	}

	b.Keys = keys
	b.Line += int64(skipped)
	return true
}

// splitRows sets the keys of b from lines, of which some may be bad.
func (b *block) splitRows(s *settings) error {
	line := b.Line
	for start, end := 0, 0; start < len(b.data); start, line = end, line+1 {
		end = start + bytes.IndexByte(b.data[start:], s.end) + 1
		row := b.data[start : end-1]
		if s.end == '\n' {
			row = bytes.TrimSuffix(row, []byte{'\r'})
		}
		err := b.addLine(s, line, row, b.data[start:end:end])
		if stop := b.bad.skipOrStop(s, err); stop != nil {
			return stop
		}
	}
	return nil
}

// addLine adds the keys of a row in a format other than CSV. It returns an error, and adds nothing, if the row is bad.
func (b *block) addLine(s *settings, line int64, row, raw []byte) error {
	if len(row) > s.maxRow() {
		return b.rowTooLong(s, line)
	}

	row, isComment := s.cutComment(row)
	key, second, value := row, []byte(nil), uint64(0)
	var err error
	switch {
	case isComment:
		return nil
	case s.Format == Lines || s.Format == Null:
		err = b.checkRow(s, line, row, row)
	case s.Format == Hex:
		key, err = b.decodeHex(line, row)
	case len(row) == 0: // a blank line of a table has no key
		return nil
	case s.Format == JSONL:
		return b.addObject(s, line, row, raw)
	default:
		key, second, value, err = b.readFields(s, line, row)
	}
	if err == nil {
		b.addKey(s, line, key, second, raw, value)
	}
	return err
}

// addKey prepares a key and adds it, unless it is empty, with the parts of its row that s selects.
func (b *block) addKey(s *settings, line int64, key, second, row []byte, value uint64) {
	if s.Trim || s.Lower {
		key, b.prepared = appendPrepared(b.prepared, key, s.Trim, s.Lower)
	}
	if len(key) == 0 && !s.KeepEmpty {
		return
	}
	if len(b.Keys) == 0 {
		b.Line = line
	}

	b.Keys = append(b.Keys, key[:len(key):len(key)])
	if s.Second != "" {
		b.Second = append(b.Second, second)
	}
	if s.Parse != nil {
		b.Values = append(b.Values, value)
	}
	if s.Rows {
		b.Rows = append(b.Rows, row)
	}
	if s.LineNumbers {
		b.LineNumbers = append(b.LineNumbers, line)
	}
}

// decodeHex decodes hexadecimal digits in place, so b.data no longer has lines.
func (b *block) decodeHex(line int64, digits []byte) ([]byte, error) {
	n, err := hex.Decode(digits, digits)
	if err != nil {
		err = fmt.Errorf("not a key in hexadecimal digits, two per byte: %w", err)
		if errors.Is(err, hex.InvalidByteError(':')) {
			err = fmt.Errorf("%w; the command cut -d: -f1 keeps what is before it", err)
		}
		err = &RowError{b.Input, line, err}
	}
	return digits[:n], err
}

// checkRow returns the error of a row that is bad, for its length or a NUL byte. With Pass it counts rows with NUL
// bytes.
func (b *block) checkRow(s *settings, line int64, row, key []byte) error {
	if len(key) > s.MaxKey {
		return &KeyTooLongError{Input: b.Input, Line: line, MaxKey: s.MaxKey}
	}
	if !b.nul || bytes.IndexByte(row, 0) < 0 {
		return nil
	}

	err := nulError(b.Input, line, s.Format)
	if s.BadRows == Pass {
		b.bad.countRows(1, err)
		return nil
	}
	return err
}

// otherFormat returns an error if b is the start of an input that has lines but is not a list of keys.
func (b *block) otherFormat() error {
	if !b.first {
		return nil
	}
	start := b.data
	if b.ended {
		start = start[:len(start)-1]
	}
	return otherFormat(b.Input, start)
}

// headerOf takes the header row off a block of a stream of TSV or Fields, and returns the columns to read. The header
// is missing if there are only blank lines so far; at the end of the stream, that is an error if the column has a name.
func (r *reader) headerOf(b *block, eof bool) (at columns, missing bool, err error) {
	if bytes.IndexByte(b.data, 0) >= 0 {
		if err := b.otherFormat(); err != nil { // in UTF-16 text, no column would have the wanted name
			return at, false, err
		}
	}

	b.first = false
	for len(b.data) > 0 {
		end := bytes.IndexByte(b.data, '\n') + 1
		row := bytes.Clone(b.data[:end])
		if bytes.IndexByte(row, 0) >= 0 {
			return at, false, nulError(b.Input, b.Line, r.in.set.Format)
		}
		b.data = append(b.data[:0], b.data[end:]...) // keeps the capacity of the block
		b.Line++
		b.lines--
		line, isComment := r.in.set.cutComment(bytes.TrimSuffix(row[:len(row)-1], []byte{'\r'}))
		if len(line) > 0 && !isComment {
			at, err = r.useHeader(b, row, r.in.set.namesOf(line))
			return at, false, err
		}
	}
	if eof {
		at, err = r.useHeader(b, nil, nil)
	}
	return at, true, err
}

// readFields returns the key of a row and, with Options.Second, that field and its value by Options.Parse. It returns
// an error if the row is bad.
func (b *block) readFields(s *settings, line int64, row []byte) (key, second []byte, value uint64, err error) {
	if key, err = b.fieldOf(s, line, row, b.columns.key); err == nil {
		err = b.checkRow(s, line, row, key)
	}
	if err != nil || s.Second == "" || len(key) == 0 && !s.KeepEmpty {
		return key, nil, 0, err
	}
	if second, err = b.fieldOf(s, line, row, b.columns.second); err == nil {
		value, err = b.parseValue(s, line, second)
	}
	return key, second, value, err
}

// fieldOf returns a column of a row.
func (b *block) fieldOf(s *settings, line int64, row []byte, column int) ([]byte, error) {
	field, left, more := s.cutField(row)
	for i := range column {
		if !more {
			return nil, fmt.Errorf("%s:%d: no column %d: the row has %d", b.Input, line, column+1, i+1)
		}
		field, left, more = s.cutField(left)
	}
	return field[:len(field):len(field)], nil
}

// parseValue returns the value of a field by Options.Parse, if set, or an error that names the line.
func (b *block) parseValue(s *settings, line int64, second []byte) (value uint64, err error) {
	if s.Parse == nil {
		return 0, nil
	}
	if value, err = s.Parse(second); err != nil {
		err = fmt.Errorf("%s:%d: %w", b.Input, line, err)
	}
	return value, err
}

// rowTooLong returns the error of a row above settings.maxRow. Without columns, its key is too long.
func (b *block) rowTooLong(s *settings, line int64) error {
	if !s.Format.HasColumns() {
		return &KeyTooLongError{Input: b.Input, Line: line, MaxKey: s.MaxKey}
	}
	err := fmt.Errorf("row is longer than %d bytes; is its format %s?", s.maxRow(), s.Format)
	return &RowError{b.Input, line, err}
}
