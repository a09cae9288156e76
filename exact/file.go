package exact

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/trailer"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// DefaultMaxBytes is the largest file that Read takes if maxBytes is 0: 1 GiB.
const DefaultMaxBytes = 1 << 30

// maxFile is the largest regular file that Open reads, 1 TiB: a set of MaxKeys has less.
const maxFile = 1 << 40

// Open reads the set in a regular file into memory. It reads the rest only if the file begins like an exact set, and a
// folder, pipe or device is an error at once. Peak memory: the file. secret is that of a set with a keyed hash, else it
// is ignored and may be nil. On error the Set is nil, and the error names the path and wraps that of the file system or
// one of FromBytes.
func Open(path string, secret *filter.Secret) (*Set, error) {
	data, err := untrusted.ReadFile(context.Background(), path, limit(maxFile))
	if err != nil {
		return nil, err
	}
	s, err := FromBytes(data, secret)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Read reads a set from r up to its end, at most maxBytes bytes, or DefaultMaxBytes if maxBytes is 0. On a 32-bit
// platform it reads at most 512 MiB. If r does not begin like an exact set, it reads no more than 8 bytes. Peak memory:
// at most three times the bytes received. The error wraps that of r, filter.ErrTooLarge or one of FromBytes.
func Read(r io.Reader, maxBytes uint64, secret *filter.Secret) (*Set, error) {
	data, err := untrusted.Read(context.Background(), r, limit(readLimit(maxBytes)))
	if err != nil {
		return nil, err
	}
	return FromBytes(data, secret)
}

// limit returns the limit for reading an exact set of at most maxBytes.
func limit(maxBytes uint64) untrusted.Limit {
	const head = 8 // also tells a filter file
	return untrusted.Limit{MaxBytes: maxBytes, Head: head, Check: func(b []byte) error {
		if string(b[:min(len(b), len(magic))]) == magic[:min(len(b), len(magic))] {
			return nil // perhaps cut: FromBytes says where
		}
		return container.Broken(0, "magic", badMagic(b))
	}}
}

// readLimit returns the largest file that Read takes: with more, growing buffers could fail on a 32-bit platform.
func readLimit(maxBytes uint64) uint64 { return min(cmp.Or(maxBytes, DefaultMaxBytes), math.MaxInt/4) }

// FromBytes returns the set in data, which must not change afterwards: its words are shared where they are aligned. It
// verifies all checksums. The error wraps filter.ErrMagic (ErrFilter for a filter file), ErrVersion, ErrHash,
// ErrSecret (ErrNoSecret if none was given), ErrChecksum, ErrCorrupt or io.ErrUnexpectedEOF, with the byte offset.
func FromBytes(data []byte, secret *filter.Secret) (*Set, error) {
	return (&cursor{data: data, secret: secret}).parse()
}

// Inspect verifies and describes the set in data. It needs no secret. Errors are those of FromBytes.
func Inspect(data []byte) (Info, error) {
	s, err := (&cursor{data: data, inspect: true}).parse()
	if err != nil {
		return Info{}, err
	}
	return s.Info(), nil
}

// ErrFilter means that a file is a filter file, which bloomery.Open reads. It wraps filter.ErrMagic.
var ErrFilter error = isFilter{}

type isFilter struct{}

func (isFilter) Error() string { return "a filter file, not an exact set" }

func (isFilter) Unwrap() error { return filter.ErrMagic }

// badMagic returns the error for a file that begins with b, which is not the magic of an exact set.
func badMagic(b []byte) error {
	if container.HasMagic(bytes.NewReader(b)) {
		return ErrFilter
	}
	return filter.ErrMagic
}

// HasMagic reports whether r begins like an exact set.
func HasMagic(r io.Reader) bool {
	var b [len(magic)]byte
	_, err := io.ReadFull(r, b[:])
	return err == nil && string(b[:]) == magic
}

// WriteTo writes the file of the set to w, with the same bytes each time. The error is that of w, or says that the Set
// is the zero Set or closed.
func (s *Set) WriteTo(w io.Writer) (n int64, err error) {
	out := &counter{w: w}
	_, err = s.write(out)
	return out.n, err
}

// write writes the file, and returns the size of each record in bytes.
func (s *Set) write(w io.Writer) (sizes []uint64, err error) {
	if err := s.empty(); err != nil {
		return nil, err
	}
	p := place{version: s.version, hasher: s.hasher}
	for _, r := range s.records {
		copied := *r
		if err := copied.writeTo(w, p); err != nil {
			return nil, err
		}
		p.previous = copied.crc
		p.at += copied.size
		sizes = append(sizes, copied.size)
	}
	if s.trailerSize() > 0 {
		end := trailer.Trailer{Length: p.at + trailer.Size, Updates: uint32(len(s.records) - 1)}
		_, err = w.Write(end.Append(nil, p.previous))
	}
	return sizes, err
}

// trailerSize returns the number of bytes of the trailer, 0 if the file has none.
func (s *Set) trailerSize() uint64 {
	if s.version < trailer.FirstVersion {
		return 0
	}
	return trailer.Size
}

// AppendBinary appends the file of the set to b. Errors are those of WriteTo.
func (s *Set) AppendBinary(b []byte) ([]byte, error) {
	buffer := bytes.NewBuffer(b)
	_, err := s.WriteTo(buffer)
	return buffer.Bytes(), err
}

// Save writes the set to a file, as container.WriteAtomic does. Other errors are those of WriteTo.
func (s *Set) Save(ctx context.Context, path string) error {
	if err := s.empty(); err != nil {
		return err
	}
	return container.WriteAtomic(ctx, path, func(w io.Writer) error {
		_, err := s.WriteTo(w)
		return err
	})
}

// counter counts the bytes that are written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
