package keyio

import (
	"bytes"
	"io"
	"slices"
)

// readLines cuts a stream into blocks of whole lines. Every block ends in a newline, which is added to the last line of
// the stream if it has none.
func (r *reader) readLines(st *stream) error {
	line := int64(1)
	for eof := false; !eof; {
		b, err := r.take(st.name)
		if err != nil {
			return err
		}
		b.Line = line
		b.data = append(b.data, r.carry...)
		var cut int
		if cut, eof, err = r.fill(b, st); err != nil {
			return err
		}
		r.carry = append(r.carry[:0], b.data[cut:]...)
		b.data = b.data[:cut]
		b.lines = bytes.Count(b.data, newline)
		line += int64(b.lines)
		r.send(b)
	}
	return nil
}

var newline = []byte{'\n'}

// fill reads into b, which is empty or holds the beginning of a line. It stops when b is full, at the end of the
// stream, and, in a live stream, after a Read that completes a line. It returns the length of the whole lines in
// b.data, which is 0 only at the end of an empty stream.
//
// The buffer of a block grows only while it holds an incomplete single line, up to the longest line allowed.
func (r *reader) fill(b *block, st *stream) (cut int, eof bool, err error) {
	maxLine := r.in.set.MaxKey + len("\r\n")
	buf := b.data
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(max(len(buf), r.in.blockSize), max(maxLine-len(buf), 1)))
		}
		n, err := st.Read(buf[len(buf):cap(buf)])
		old := len(buf)
		buf = buf[:old+n]
		if i := bytes.LastIndexByte(buf[old:], '\n'); i >= 0 {
			cut = old + i + 1
		}
		b.data = buf
		switch {
		case err == io.EOF:
			if cut < len(buf) {
				b.data = append(buf, '\n')
			}
			return len(b.data), true, nil
		case err != nil:
			return 0, false, st.wrap(err)
		case cut > 0 && (len(buf) == cap(buf) || st.live):
			return cut, false, nil
		case cut == 0 && len(buf) >= maxLine:
			return 0, false, &KeyTooLongError{Input: st.name, Line: b.Line, MaxKey: r.in.set.MaxKey}
		}
	}
}

// split sets b.Keys from b.data.
func (b *block) split(s *settings) error {
	if s.Format == CSV {
		b.splitFields()
		return nil
	}
	data := b.data
	keys := slices.Grow(b.Keys, b.lines)
	skipped := 0 // empty lines before the first key
	for start, end := 0, 0; start < len(data); start = end + 1 {
		// IndexByte is as fast as word arithmetic on eight bytes at a time for lines of 20 bytes, and faster for longer
		// lines. Two workers keep up with a reader that copies from the page cache.
		end = start + bytes.IndexByte(data[start:], '\n')
		stop := end
		if stop > start && data[stop-1] == '\r' {
			stop--
		}
		if stop-start > s.MaxKey {
			return b.tooLong(start, s.MaxKey)
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

// tooLong returns the error for the line that starts at offset start of b.data.
func (b *block) tooLong(start, maxKey int) error {
	line := b.Line + int64(bytes.Count(b.data[:start], newline))
	return &KeyTooLongError{Input: b.Input, Line: line, MaxKey: maxKey}
}
