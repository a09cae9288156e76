package keyio

import (
	"bytes"
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
		if cut, eof, err = r.fill(b, st); err != nil {
			return err
		}
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
	}
	return nil
}

// fill reads into b, which is empty or holds the beginning of a line. It stops when b is full, at the end of the
// stream, and, in a live stream, after a Read that completes a line. It returns the length of the whole lines in
// b.data, which is 0 only at the end of an empty stream.
//
// The buffer of a block grows only while it holds an incomplete single line, up to the longest line allowed.
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
			return 0, false, st.wrap(err)
		case cut > 0 && (len(buf) == cap(buf) || st.live):
			return cut, false, nil
		case cut == 0 && len(buf) >= maxLine && r.in.set.Format == TSV:
			return 0, false, fmt.Errorf("%s:%d: row is longer than %d bytes; is it TSV?", st.name, b.Line, maxLine)
		case cut == 0 && len(buf) >= maxLine:
			return 0, false, &KeyTooLongError{Input: st.name, Line: b.Line, MaxKey: r.in.set.MaxKey}
		}
	}
}

// split sets b.Keys from b.data.
func (b *block) split(s *settings) error {
	if s.Format == CSV {
		b.splitFields(s)
		return nil
	}
	if s.Format != Null && s.Format != Hex {
		if err := b.checkText(s.Format); err != nil {
			return err
		}
	}
	switch s.Format {
	case TSV:
		return b.splitTSV(s)
	case Hex:
		return b.splitHex(s)
	}
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
			return b.tooLong(start, s)
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
	return nil
}

// lineAt returns the number of the line that starts at offset start of b.data. b.Line must still be that of the first.
func (b *block) lineAt(start int, end byte) int64 {
	return b.Line + int64(bytes.Count(b.data[:start], []byte{end}))
}

// tooLong returns the error for the line that starts at offset start of b.data.
func (b *block) tooLong(start int, s *settings) error {
	return &KeyTooLongError{Input: b.Input, Line: b.lineAt(start, s.end), MaxKey: s.MaxKey}
}

// checkText returns an error if there is a NUL byte in b.data.
func (b *block) checkText(format Format) error {
	at := bytes.IndexByte(b.data, 0)
	if at < 0 {
		return nil
	}
	var start []byte
	if b.first {
		start = b.data
	}
	if b.first && b.ended {
		start = b.data[:len(b.data)-1]
	}
	return nulError(b.Input, b.lineAt(at, '\n'), format, start)
}
