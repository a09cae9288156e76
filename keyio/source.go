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

// maxWindow is the largest zstd window accepted, in bytes: that of zstd --long=27, and the most that the zstd tool
// decompresses without a flag. The decoder allocates about twice as much.
const maxWindow = 128 << 20

// source is one input. Exactly one of path, file and stdin is set.
type source struct {
	name  string
	path  string
	file  *os.File // a regular file redirected to standard input, read from offset start
	start int64
	stdin io.Reader
	size  int64 // bytes; -1 if it is not a regular file
}

// stream is an opened source. It reads the decompressed data.
type stream struct {
	io.Reader
	name   string
	codec  string // "gzip", "zstd", or "" for plain
	live   bool   // a pipe or device: pass data on as soon as it arrives
	closes []func()
}

// open opens s for one pass. The stream adds the bytes that it consumes, before decompression, to raw. When ctx is
// done, a Read that waits for a pipe returns.
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

// decompress makes st read r, through a decompressor if r begins with the magic bytes of gzip or zstd. The
// decompressors work in the goroutine that calls Read.
func (st *stream) decompress(r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10) // large reads of plain text bypass its buffer
	head := peekMagic(br)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}): // RFC 1952, method deflate
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

// peekMagic returns the first four bytes, or fewer as soon as they cannot begin a magic number: a short key of a live
// stream must not wait for the next one. An error is repeated by the first Read.
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
		begins := func(magic string) bool { return strings.HasPrefix(magic, like) }
		if !begins("\x1f\x8b\x08") && !begins("\x28\xb5\x2f\xfd") && !begins("\x50\x2a\x4d\x18") {
			return head
		}
	}
}

// isZstd reports whether head begins a frame of RFC 8878: a data frame, or a skippable frame, which tools that compress
// in parallel write first.
func isZstd(head []byte) bool {
	return bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) == 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:], []byte{0x2a, 0x4d, 0x18})
}

// close closes the file and the decompressor. Standard input stays open.
func (st *stream) close() {
	for _, f := range st.closes {
		f()
	}
}

// wrap adds the name of the input and a likely cause to err.
func (st *stream) wrap(err error) error {
	if st.codec == "" {
		return fmt.Errorf("reading %s: %w", st.name, err)
	}
	return fmt.Errorf("%s: %w", st.name, st.explain(err))
}

// explain adds a likely cause to an error of a decompressor.
func (st *stream) explain(err error) error {
	switch {
	case st.codec == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the %s data ends too early; is the file complete? %w", st.codec, err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("its zstd window is larger than %d MiB; pipe it through zstd -dc: %w", maxWindow>>20, err)
	}
	return fmt.Errorf("reading it as %s: %w", st.codec, err)
}

// Decompress returns a reader of the data in r, decompressed if r begins with the magic bytes of gzip or zstd. A zstd
// window larger than 128 MiB is an error. Errors of compressed data name a likely cause. Close frees the decompressor;
// r stays open.
func Decompress(r io.Reader) (io.ReadCloser, error) {
	st := new(stream)
	if err := st.decompress(r); err != nil {
		return nil, st.explain(err)
	}
	return plain{st}, nil
}

// plain is the reader that Decompress returns.
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
