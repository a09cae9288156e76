package keyio

import (
	"bufio"
	"cmp"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// maxWindow is the largest zstd window accepted, in bytes: the window of zstd --long=27, and the most that the zstd
// tool decompresses without a flag. The decoder allocates about twice as much.
const maxWindow = 128 << 20

// source is one input. Exactly one of path, file and reader is set.
type source struct {
	name   string
	path   string
	file   *os.File // a regular file redirected to standard input, read from offset start
	start  int64
	reader io.Reader
	live   bool        // a pipe or device: data is passed on as soon as it arrives
	size   int64       // bytes; -1 if it is not a regular file
	was    fs.FileInfo // a regular file when its first pass began
}

// stream is an opened source. It reads the decompressed data.
type stream struct {
	*bufio.Reader
	name   string
	codec  string // the compression, such as "gzip", or "" for plain
	live   bool
	closes []func()
	// unchanged returns an error if the file has changed since its first pass. It is nil in the first pass.
	unchanged func() error
}

// openStream opens s for one pass. The stream adds the bytes that it consumes, before decompression, to raw. When ctx
// is done, a Read that waits for a pipe returns.
func (s *source) openStream(ctx context.Context, raw *int64, isPlain bool) (*stream, error) {
	st := &stream{name: s.name, live: s.live}
	r, err := s.reader, error(nil)
	switch {
	case s.path != "":
		var f *os.File
		if f, err = untrusted.OpenStream(ctx, s.path); err != nil {
			return nil, err
		}
		st.closes = append(st.closes, func() { f.Close() })
		r, err = f, s.compare(st, f)
	case s.file != nil:
		r, err = io.NewSectionReader(s.file, s.start, math.MaxInt64-s.start), s.compare(st, s.file)
	}
	if s.live {
		r = newPump(ctx, r)
	}

	r = &countingReader{r, raw}
	switch {
	case err != nil:
	case isPlain:
		st.Reader = bufio.NewReaderSize(r, 64<<10)
	default:
		err = st.readText(r)
	}
	if err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

// compare records the size and modification time of a regular file in its first pass. In later passes it returns an
// error wrapping ErrChanged if they differ.
func (s *source) compare(st *stream, f *os.File) error {
	if s.size < 0 {
		return nil
	}
	if s.was == nil {
		var err error
		s.was, err = f.Stat()
		return err
	}

	st.unchanged = func() error {
		now, err := f.Stat()
		if err == nil && !(os.SameFile(s.was, now) && now.Size() == s.was.Size() && now.ModTime().Equal(s.was.ModTime())) {
			err = fmt.Errorf("%s: %w", s.name, ErrChanged)
		}
		return err
	}
	return st.unchanged()
}

// A list of keys does not compress by a factor of mostRatio: gzip cannot reach it, and bzip2 and zstd reach it only for
// repeated bytes. So a larger ratio is an error beyond the first freeBytes of an input. Both limits bound the time that
// a small file can take.
const (
	mostRatio = 2000
	freeBytes = 256 << 20
)

// readText makes st read the text in r: it decompresses, drops a byte-order mark and refuses other formats. The
// decompressor works in the goroutine that calls Read. Nested compression is an error: a few layers can turn a small
// file into any number of bytes.
func (st *stream) readText(r io.Reader) error {
	z := &unpacked{}
	sign, err := st.peekSign(&countingReader{r, &z.packed})
	if sign != nil && sign.codec != "" {
		st.codec = sign.codec
		if z.r, err = st.decoder(); err == nil {
			sign, err = st.peekSign(z)
		}
	}

	switch {
	case err != nil:
		return st.wrapError(err)
	case sign == nil:
		return nil
	case sign.magic == bom:
		_, err = st.Discard(len(bom))
		return err
	}

	e := &UnsupportedError{Input: st.name, Found: sign.what, Advice: sign.do}
	switch {
	case sign.codec != "":
		e.Found = sign.codec + " data in " + st.codec + " data"
		e.Advice = "decompress it once first: " + st.codec + " -dc FILE | bloomery ..."
	case st.codec != "":
		e.Found += " in " + st.codec + " data"
		e.Advice += ", where FILE is the decompressed " + st.codec + " data"
	}
	return e
}

// peekSign makes st read r, and returns the signature at the start of the data, or nil if it has none.
func (st *stream) peekSign(r io.Reader) (*signature, error) {
	st.Reader = bufio.NewReaderSize(r, 64<<10) // large reads of plain data bypass its buffer
	sign, cut := peekSignature(st.Reader)
	if cut != "" {
		st.codec = cmp.Or(st.codec, cut)
		return nil, io.ErrUnexpectedEOF
	}
	return sign, nil
}

// decoder returns a reader of what st reads, decompressed.
func (st *stream) decoder() (io.Reader, error) {
	br := st.Reader
	switch st.codec {
	case "gzip":
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, err
		}
		// gzipMembers begins each member itself, so that it can ignore zeros after the last one.
		z.Multistream(false)
		return &gzipMembers{z, br}, nil
	case "bzip2":
		return bzip2.NewReader(br), nil
	}

	z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	st.closes = append(st.closes, z.Close)
	return z, nil
}

// gzipMembers reads the members of a gzip file. Like gunzip, it ignores zeros after the last one, such as on tapes and
// in disk images.
type gzipMembers struct {
	z  *gzip.Reader // reader of one member
	br *bufio.Reader
}

func (g *gzipMembers) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if n, err = g.z.Read(p); err == io.EOF {
			err = g.nextMember()
		}
	}
	return n, err
}

// nextMember begins the next member. It returns io.EOF if there is none.
func (g *gzipMembers) nextMember() error {
	padded := false
	for {
		c, err := g.br.Peek(1)
		if err != nil {
			return err
		}
		if c[0] != 0 {
			break
		}
		padded = true
		_, _ = g.br.Discard(1) // never fails: Peek has put the byte into the buffer
	}
	if magic, _ := g.br.Peek(2); padded || len(magic) == 2 && string(magic) != "\x1f\x8b" {
		return errors.New("there are other bytes behind the gzip data; remove them")
	}
	if err := g.z.Reset(g.br); err != nil {
		return err
	}
	g.z.Multistream(false)
	return nil
}

// close closes the file and the decompressor. Standard input stays open.
func (st *stream) close() {
	for _, f := range st.closes {
		f()
	}
}

// wrapError adds the name of the input and a likely cause to err.
func (st *stream) wrapError(err error) error {
	switch {
	case st.codec == "":
		return fmt.Errorf("reading %s: %w", st.name, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the %s data ends too early; is the file complete? %w", st.name, st.codec, err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		const text = "%s: its zstd window is larger than %d MiB; pipe it through zstd -dc: %w"
		return fmt.Errorf(text, st.name, maxWindow>>20, err)
	}
	return fmt.Errorf("%s: reading it as %s: %w", st.name, st.codec, err)
}

// unpacked reads decompressed data from r. It returns the first error of r again at every later Read, so that a damaged
// input has no keys after the damage.
type unpacked struct {
	r           io.Reader
	packed, out int64 // bytes read before and after decompression
	err         error
}

func (u *unpacked) Read(p []byte) (n int, err error) {
	if u.err != nil {
		return 0, u.err
	}
	n, u.err = u.r.Read(p)
	// A decompression bomb is recognised by its ratio; see mostRatio.
	if u.out += int64(n); u.out > freeBytes && u.out/mostRatio > u.packed {
		n, u.err = 0, fmt.Errorf("it decompresses to more than %d times its size; if it is a list of keys all the same, "+
			"pipe it through a decompressor", mostRatio)
	}
	return n, u.err
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

// pumpSize is the size in bytes of the buffer of a pump: the capacity of a Linux pipe.
const pumpSize = 64 << 10

// newPump returns a reader of r that returns data as soon as there is some, and the cause of ctx when ctx is done. It
// reads r in its own goroutine, so that a pass can end while a Read is blocked. Go cannot cancel a blocked Read of an
// arbitrary io.Reader: the goroutine stays until Read returns. Until then it uses only its own buffer and drops the
// data.
func newPump(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.CopyBuffer(in, struct{ io.Reader }{r}, make([]byte, pumpSize)) // hides WriterTo of r
		in.CloseWithError(err)
	}()
	return out
}
