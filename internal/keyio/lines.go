package keyio

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
)

// readLines cuts a stream into blocks of whole lines. Every block ends in a line end, which is added to the last line
// of the stream if it has none.
func (r *reader) readLines(st *stream) error {
	line, at, header := int64(1), r.in.set.columns, r.in.set.Header
	for eof := false; !eof; {
		b, err := r.take(st.name)
		if err != nil {
			return err
		}
		b.Line, b.first = line, line == 1
		b.data = append(b.data, r.carry...)
		var cut int
		var readErr error // comes after the lines before it
		cut, eof, readErr = r.fill(b, st)
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
		r.send(b)
		if readErr != nil {
			return readErr
		}
	}
	return nil
}

// fill reads into b, which is empty or holds the beginning of a line. It stops when b is full, at the end of the
// stream, and, in a live stream, after a Read that completes a line. It returns the length of the whole lines in
// b.data, which is 0 only at the end of an empty stream and with an error.
//
// The buffer of a block grows only while it holds an incomplete single line, up to the longest line allowed. Of a line
// that is longer and left out, it holds the beginning.
func (r *reader) fill(b *block, st *stream) (cut int, eof bool, err error) {
	maxLine := r.in.set.MaxKey + len("\r\n")
	switch r.in.set.Format {
	case TSV:
		maxLine += recordSlack
	case Hex:
		maxLine += r.in.set.MaxKey
	}
	buf := b.data
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(max(len(buf), r.in.blockSize), max(maxLine-len(buf), 1)))
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
			return cut, false, fmt.Errorf("%w; %d lines were read", st.wrap(err), lines)
		case cut > 0 && (len(buf) == cap(buf) || st.live):
			return cut, false, nil
		case r.ctx.Err() != nil: // a line may be endless
			return 0, false, context.Cause(r.ctx)
		case cut == 0 && len(buf) >= maxLine && r.in.set.BadRows == Skip:
			buf = buf[:maxLine] // split sees that it is too long, without the rest
		case cut == 0 && len(buf) >= maxLine && r.in.set.Format == TSV:
			return 0, false, &BadRowError{b.rowTooLong(&r.in.set, b.Line)}
		case cut == 0 && len(buf) >= maxLine:
			return 0, false, &BadRowError{&KeyTooLongError{Input: st.name, Line: b.Line, MaxKey: r.in.set.MaxKey}}
		}
	}
}

// split sets b.Keys from b.data, up to the first bad row whose error it returns.
func (b *block) split(s *settings) error {
	switch s.Format {
	case CSV:
		return b.splitFields(s)
	case Hex:
		return b.splitHex(s)
	case Lines, TSV:
		if b.nul = bytes.IndexByte(b.data, 0) >= 0; b.nul {
			if err := b.otherFormat(); err != nil {
				return err
			}
		}
	}
	if s.Format == TSV {
		return b.splitTSV(s)
	}
	return b.splitLines(s)
}

// splitLines sets b.Keys from lines.
func (b *block) splitLines(s *settings) error {
	if b.nul || s.LineNumbers || !b.splitGood(s) {
		return b.splitAny(s)
	}
	return nil
}

// splitGood is splitAny for a block without NUL bytes, if no line numbers are needed. It returns false and changes
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

// splitAny sets b.Keys from lines, of which some may be bad.
func (b *block) splitAny(s *settings) error {
	data, line := b.data, b.Line
	for start, end := 0, 0; start < len(data); start, line = end+1, line+1 {
		end = start + bytes.IndexByte(data[start:], s.end)
		stop := end
		if stop > start && data[stop-1] == '\r' && s.end == '\n' {
			stop--
		}
		bad := b.check(s, line, data[start:stop], data[start:stop])
		if err := b.bad.skip(s, bad); err != nil {
			return err
		}
		if bad != nil || stop == start && !s.KeepEmpty {
			continue
		}
		if len(b.Keys) == 0 {
			b.Line = line
		}
		b.Keys = append(b.Keys, data[start:stop:stop])
		if s.LineNumbers {
			b.LineNumbers = append(b.LineNumbers, line)
		}
	}
	return nil
}

// check returns the error of a row that is bad, for its length or a NUL byte. With Pass it counts rows with NUL bytes.
func (b *block) check(s *settings, line int64, row, key []byte) error {
	if len(key) > s.MaxKey {
		return &KeyTooLongError{Input: b.Input, Line: line, MaxKey: s.MaxKey}
	}
	if !b.nul || bytes.IndexByte(row, 0) < 0 {
		return nil
	}
	err := nulError(b.Input, line, s.Format)
	if s.BadRows == Pass {
		b.bad.add(1, err)
		return nil
	}
	return err
}

// otherFormat returns an error if b is the start of an input that is no list of keys, although it has lines.
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
