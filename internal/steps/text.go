package steps

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/bloomery/bloomery/internal/keyio"
)

// text implements Format for the formats of keyio. Plain lines are divided into spans of bytes; a line belongs to the
// span in which it begins. A compressed object, and one with columns, is one span, because only its start is known to
// be a boundary.
type text struct{ keys KeyFormat }

func (f text) Split(ctx context.Context, in Source, o Object, size int64) ([]Span, error) {
	whole := []Span{{0, o.Size}}
	if o.Size <= size || f.keys.columns() {
		return whole, nil
	}

	head, err := readPart(ctx, in, o.Name, 0, keyio.HeadSize)
	if err != nil || keyio.Compressed(head) {
		return whole, err
	}

	var spans []Span
	for at := int64(0); at < o.Size; at += size {
		spans = append(spans, Span{at, min(size, o.Size-at)})
	}
	return spans, nil
}

func (f text) Read(ctx context.Context, in Source, o Object, s Span, r Reading) error {
	options := r.Keys.options()
	options.Progress, options.Trim, options.Lower = r.Progress, r.Form.Trim, r.Form.Lower
	options.Plain = s.Offset > 0 // only the start of an object shows compression and a byte-order mark
	work := r.Work
	if r.ValueBits > 0 {
		options.KeepEmpty = options.KeepEmpty || !r.Keys.columns() // errors count empty lines too
		values := r.Keys.values(r.ValueBits)
		values.Trim = options.Trim
		work = func(b *keyio.Batch) error {
			if err := values.Read(b); err != nil {
				return err
			}
			return r.Work(b)
		}
	}

	end := byte('\n')
	if options.Format == keyio.Null {
		end = 0
	}

	lines := &lineReader{ctx: ctx, in: in, object: o, span: s, end: end}
	defer lines.close()
	input, err := keyio.OpenReader(o.Name, lines, options)
	if err != nil {
		return err
	}

	err = input.Process(ctx, r.Workers, func(_ int, b *keyio.Batch) error { return work(b) }, r.Emit)
	if err != nil && s.Offset > 0 {
		err = lines.locate(err)
	}
	return err
}

// lineReader reads the lines of an object that begin in a span. It also reads the end of the last line beyond the span.
type lineReader struct {
	ctx    context.Context
	in     Source
	object Object
	span   Span
	end    byte // the byte that ends a line

	r     io.ReadCloser // nil before the first Read and when all was read
	at    int64         // offset of the next byte of r
	first int64         // offset of the first line
	done  bool          // all lines of the span were read
}

// over is the number of bytes that are read beyond a span at a time, for the end of its last line.
const over = 64 << 10

func (l *lineReader) Read(p []byte) (int, error) {
	if l.r == nil && !l.done {
		if err := l.openSpan(); err != nil {
			return 0, err
		}
	}

	for !l.done {
		n, err := l.r.Read(p)
		n, err = l.cutAtEnd(p[:n], err)
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

// openSpan opens the object and skips the line that begins before the span.
func (l *lineReader) openSpan() error {
	// One byte before the span: if it ends a line, the first line of the span begins exactly there.
	l.at = max(l.span.Offset-1, 0)
	if err := l.openAt(l.spanEnd() + over - l.at); err != nil || l.span.Offset == 0 {
		return err
	}

	buf := make([]byte, over)
	for l.at < l.spanEnd() {
		n, err := l.r.Read(buf[:min(over, l.spanEnd()-l.at)])
		if i := bytes.IndexByte(buf[:n], l.end); i >= 0 && l.at+int64(i)+1 < l.spanEnd() {
			// Continue after the line end: open the object again, because the rest of buf belongs to the span.
			l.at += int64(i) + 1
			l.first = l.at
			rest := io.MultiReader(bytes.NewReader(buf[i+1:n]), l.r)
			l.r = readCloser{rest, l.r}
			return nil
		}
		l.at += int64(n)
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF && l.at < l.spanEnd() {
			return io.ErrUnexpectedEOF
		}
	}
	l.done = true // since no line begins in the span
	return nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

func (l *lineReader) spanEnd() int64 { return l.span.Offset + l.span.Length }

func (l *lineReader) openAt(length int64) (err error) {
	l.close()
	l.r, err = l.in.Open(l.ctx, l.object.Name, l.at, min(length, l.object.Size-l.at))
	return err
}

// cutAtEnd returns the bytes that were read, up to the end of the last line that begins in the span.
func (l *lineReader) cutAtEnd(p []byte, err error) (int, error) {
	from := l.at
	l.at += int64(len(p))
	if last := l.spanEnd() - 1; l.at > last && l.spanEnd() < l.object.Size { // the last line may end here
		if i := bytes.IndexByte(p[max(last-from, 0):], l.end); i >= 0 {
			l.done = true
			return int(max(last-from, 0)) + i + 1, nil
		}
	}

	switch {
	case err != io.EOF:
		return len(p), err
	case l.at < l.object.Size && l.at >= l.spanEnd():
		return len(p), l.openAt(1 << 20) // the last line is longer than over: read on in steps of 1 MiB
	case l.at < l.object.Size:
		return len(p), io.ErrUnexpectedEOF // the object is shorter than Stat said
	}
	l.done = true
	return len(p), nil
}

func (l *lineReader) close() {
	if l.r != nil {
		_ = l.r.Close()
		l.r = nil
	}
}

// locate adds the lines before the span to the line number in an error of keyio. It reads the object from its start.
func (l *lineReader) locate(err error) error {
	var long *keyio.KeyTooLongError
	var other *keyio.UnsupportedError
	var row *keyio.RowError
	var moved error // a copy, and its line
	var line *int64
	switch {
	case errors.As(err, &long):
		e := *long
		moved, line = &e, &e.Line
	case errors.As(err, &other) && other.Line > 0:
		e := *other
		moved, line = &e, &e.Line
	case errors.As(err, &row):
		e := *row
		moved, line = &e, &e.Line
	default:
		return err
	}

	r, failed := l.in.Open(l.ctx, l.object.Name, 0, l.first)
	if failed != nil {
		return err
	}
	defer r.Close()
	before := &lineCounter{end: l.end}
	if _, failed := io.Copy(before, io.LimitReader(r, l.first)); failed != nil {
		return err
	}
	*line += before.n
	return moved
}

type lineCounter struct {
	end byte
	n   int64
}

func (c *lineCounter) Write(p []byte) (int, error) {
	c.n += int64(bytes.Count(p, []byte{c.end}))
	return len(p), nil
}
