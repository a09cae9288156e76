package keyio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest window of a zstd frame, in bytes: what zstd --long=27 makes, and the most that the
// zstd tool decompresses without a flag. The decoder holds about twice as much.
const maxWindow = 128 << 20

// source is one input. Exactly one of path, file and stdin says where it is.
type source struct {
	name  string
	path  string
	file  *os.File // a regular file redirected to standard input, read from offset start
	start int64
	stdin io.Reader
	size  int64 // bytes; -1 if it is not a regular file
}

// stream is an opened source: a reader of what it holds, decompressed.
type stream struct {
	io.Reader
	name   string
	codec  string // "gzip", "zstd", or "" for plain
	live   bool   // data may come slowly, and what came should be passed on at once
	closes []func()
}

// open opens s for one pass and adds to raw, before decompression, the bytes that the stream consumes. It is
// ctx that frees a stream that waits for a pipe.
func (s *source) open(ctx context.Context, raw *int64) (*stream, error) {
	st := &stream{name: s.name}
	var r io.Reader
	switch {
	case s.path != "":
		f, err := os.Open(s.path)
		if err != nil {
			return nil, err
		}
		st.closes = append(st.closes, func() { f.Close() })
		r = f
	case s.file != nil:
		r = io.NewSectionReader(s.file, s.start, math.MaxInt64-s.start)
	default:
		r = s.stdin
	}
	if s.size < 0 {
		r = newPump(ctx, r)
		st.live = true
	}
	if err := st.decompress(&countingReader{r, raw}); err != nil {
		st.close()
		return nil, st.wrap(err)
	}
	return st, nil
}

// decompress makes st read r through the decompressor that the first bytes of r call for. Both decompressors
// work in the goroutine that reads.
func (st *stream) decompress(r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10) // steps aside for the large reads of plain text
	head := peekMagic(br)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}): // RFC 1952, with the one method there is
		st.codec = "gzip"
		z, err := gzip.NewReader(br)
		if err != nil {
			return err
		}
		st.Reader = z
	case isZstd(head):
		st.codec = "zstd"
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
		st.closes = append(st.closes, z.Close)
		st.Reader = z
	default:
		st.Reader = br
	}
	return nil
}

// peekMagic returns the first four bytes, or fewer as soon as they begin no magic number: a key of a live stream that is
// shorter must not wait for the next. An error comes again with the first Read.
func peekMagic(br *bufio.Reader) []byte {
	for n := 1; ; n++ {
		head, err := br.Peek(n)
		if err != nil || n == 4 {
			return head
		}
		like := string(head)
		if head[0]&0xf0 == 0x50 {
			like = "\x50" + like[1:]
		}
		if !strings.HasPrefix("\x1f\x8b\x08", like) && !strings.HasPrefix("\x28\xb5\x2f\xfd", like) && !strings.HasPrefix("\x50\x2a\x4d\x18", like) {
			return head
		}
	}
}

// isZstd reports whether head begins a frame of RFC 8878: one with data, or a skippable one, which tools that
// compress in parallel put first.
func isZstd(head []byte) bool {
	return bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) == 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:], []byte{0x2a, 0x4d, 0x18})
}

// close releases what open took. Standard input stays open.
func (st *stream) close() {
	for _, f := range st.closes {
		f()
	}
}

// wrap says which input err is about, and what may have happened to it.
func (st *stream) wrap(err error) error {
	if st.codec == "" {
		return fmt.Errorf("reading %s: %w", st.name, err)
	}
	return fmt.Errorf("%s: %w", st.name, st.explain(err))
}

// explain says what may have happened to compressed data.
func (st *stream) explain(err error) error {
	switch {
	case st.codec == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the %s data ends too early; is the file complete? %w", st.codec, err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("needs a zstd window beyond %d MiB; pipe it through zstd -dc: %w", maxWindow>>20, err)
	}
	return fmt.Errorf("reading it as %s: %w", st.codec, err)
}

// Decompress returns a reader of what r holds: decompressed if it begins as an input of Open may, with the magic bytes of gzip
// or zstd, and else as it is. The same limit of zstd holds, and errors say what may have happened to compressed data. Close
// frees the decompressor; r stays open.
func Decompress(r io.Reader) (io.ReadCloser, error) {
	st := new(stream)
	if err := st.decompress(r); err != nil {
		return nil, st.explain(err)
	}
	return plain{st}, nil
}

// plain is the reader of Decompress.
type plain struct{ st *stream }

func (p plain) Read(b []byte) (int, error) {
	n, err := p.st.Read(b)
	if err != nil && err != io.EOF {
		err = p.st.explain(err)
	}
	return n, err
}

func (p plain) Close() error {
	p.st.close()
	return nil
}

// countingReader adds the bytes read from r to n.
type countingReader struct {
	r io.Reader
	n *int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}
