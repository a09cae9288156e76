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
	"github.com/bloomery/bloomery/internal/live"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// DefaultMaxBytes is the largest file that Read takes without WithMaxBytes: 1 GiB.
const DefaultMaxBytes = 1 << 30

// maxFile is the largest regular file that Open reads, 1 TiB: a set of MaxKeys keys is smaller.
const maxFile = 1 << 40

// Option is an option of Open, OpenLive, Read and FromBytes.
type Option func(*options)

type options = live.ExactOptions

// optionsOf returns the options with the largest number of bytes to read.
func optionsOf(maxBytes uint64, all []Option) (o options) {
	for _, set := range all {
		set(&o)
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, maxBytes)
	return o
}

// WithSecret sets the secret of a set that was built with Config.Secret. It is ignored for other sets.
func WithSecret(secret *filter.Secret) Option {
	return func(o *options) { o.Secret = secret }
}

// WithMaxBytes limits the size of the file. For a larger file the error wraps filter.ErrTooLarge. Default:
// DefaultMaxBytes for Read, and no limit for Open and OpenLive. FromBytes ignores it.
func WithMaxBytes(n uint64) Option { return func(o *options) { o.MaxBytes = max(n, 1) } }

// Open reads the set in a regular file into memory. It checks that the file begins like an exact set before it reads
// the rest. It returns an error for a folder, pipe or device without reading it. Peak memory: the file. On error the
// Set is nil, and the error names the path and wraps an error of the file system or of FromBytes.
func Open(ctx context.Context, path string, o ...Option) (*Set, error) {
	return openFile(ctx, path, optionsOf(maxFile, o))
}

func openFile(ctx context.Context, path string, o options) (*Set, error) {
	data, err := untrusted.ReadFile(ctx, path, limitFor(o.MaxBytes))
	if err != nil {
		return nil, err
	}
	s, err := parseFile(data, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Read reads r until io.EOF and returns the set in it. On a 32-bit platform it reads at most 512 MiB. If r does not
// begin like an exact set, it reads at most 8 bytes. Peak memory: at most three times the bytes received. The error
// wraps the error of r, filter.ErrTooLarge or an error of FromBytes.
func Read(r io.Reader, o ...Option) (*Set, error) {
	all := optionsOf(0, o)
	data, err := untrusted.Read(context.Background(), r, limitFor(readLimit(all.MaxBytes)))
	if err != nil {
		return nil, err
	}
	return parseFile(data, all)
}

// limitFor returns the limit for reading an exact set of at most maxBytes.
func limitFor(maxBytes uint64) untrusted.Limit {
	const head = 8 // enough to recognise a filter file as well
	return untrusted.Limit{MaxBytes: maxBytes, Head: head, Check: func(b []byte) error {
		if string(b[:min(len(b), len(magic))]) == magic[:min(len(b), len(magic))] {
			return nil // perhaps truncated: FromBytes returns the offset
		}
		return container.Broken(0, "magic", badMagic(b))
	}}
}

// readLimit returns the largest file that Read takes: with more, growing buffers could fail on a 32-bit platform.
func readLimit(maxBytes uint64) uint64 { return min(cmp.Or(maxBytes, DefaultMaxBytes), math.MaxInt/4) }

// FromBytes returns the set in data, which must not change afterwards: its words are shared where they are aligned. It
// verifies all checksums. The error wraps filter.ErrMagic (ErrFilter for a filter file), ErrVersion, ErrHash,
// ErrSecret (ErrNoSecret if none was given), ErrChecksum, ErrCorrupt or io.ErrUnexpectedEOF, with the byte offset.
func FromBytes(data []byte, o ...Option) (*Set, error) { return parseFile(data, optionsOf(0, o)) }

func parseFile(data []byte, o options) (*Set, error) {
	return (&cursor{data: data, secret: o.Secret, inspect: o.Described}).parseSet()
}

// badMagic returns the error for a file that begins with b, which is not the magic of an exact set.
func badMagic(b []byte) error {
	if container.HasMagic(bytes.NewReader(b)) {
		return ErrFilter
	}
	return container.OtherKind(b)
}

// WriteTo writes the file of the set to w, with the same bytes each time. The error comes from w, or says that the Set
// is the zero Set or closed.
func (s *Set) WriteTo(w io.Writer) (n int64, err error) {
	out := &container.Counter{To: w}
	_, err = s.writeRecords(out)
	return out.N, err
}

// writeRecords writes the file, and returns the size of each record in bytes.
func (s *Set) writeRecords(w io.Writer) (sizes []uint64, err error) {
	if err := s.checkUsable(); err != nil {
		return nil, err
	}

	p := place{hasher: s.hasher}
	for _, r := range s.records {
		// writeTo sets the CRC and the size of a record. Goroutines share the set, so each call changes a copy.
		copied := *r
		if err := copied.writeTo(w, p); err != nil {
			return nil, err
		}
		p.previous = copied.crc
		p.at += copied.size
		sizes = append(sizes, copied.size)
	}

	end := container.ExactTrailer{
		Length: p.at + container.ExactTrailerSize, Updates: uint32(len(s.records) - 1),
	}
	_, err = w.Write(end.Append(nil, p.previous))
	return sizes, err
}

// Save creates or replaces a file atomically: after a crash at any moment it is completely the old one or completely
// the new one. If ctx ends first, the file is unchanged. It also returns errors of the file system and of WriteTo.
func (s *Set) Save(ctx context.Context, path string) error {
	// An unusable set is refused before a temporary file is created beside path.
	if err := s.checkUsable(); err != nil {
		return err
	}
	return container.WriteAtomic(ctx, path, func(w io.Writer) error {
		_, err := s.WriteTo(w)
		return err
	})
}
