package container

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// The tests of this package read and write whole filters, as the library does with container and families together.

// stored is a filter with the data of its file.
type stored struct {
	Filter     family.Filter
	Hasher     filter.Hasher
	FileBytes  uint64
	Trimmed    bool
	FPRPlanned float64
}

// reading holds the options for reading a filter.
type reading struct{ Secret *filter.Secret }

func (r reading) options(limit uint64) Options {
	return Options{MaxBytes: limit, Check: func(f *File, words []uint64) error {
		if err := families.Accept(f.Family, f.Spec, f.Hash, words, Options{MaxBytes: limit}.maxBytes()-f.Bytes); err != nil {
			return err
		}
		_, err := f.Hasher(r.Secret)
		return err
	}}
}

func (r reading) decode(f *File, err error) (*stored, error) {
	if err != nil {
		return nil, err
	}
	h, err := f.Hasher(r.Secret)
	if err != nil {
		return nil, err
	}
	decoded, err := families.Decode(f.Encoded)
	if err != nil {
		return nil, Broken(headerSize, err.Error(), filter.ErrCorrupt)
	}
	if f.Exceptions != nil {
		c, err := except.Decode(f.Exceptions)
		if err != nil {
			return nil, Broken(headerSize, err.Error(), filter.ErrCorrupt)
		}
		decoded = except.New(decoded, c)
	}
	return &stored{decoded, h, f.Bytes, family.Given(f.Spec, "trimmed"), f.FPRPlanned}, nil
}

func readFilter(r io.Reader, limit uint64, o reading) (*stored, error) {
	return o.decode(Read(r, o.options(limit)))
}

func readFilterFile(path string, o reading) (*stored, error) {
	return o.decode(ReadFile(path, o.options(0)))
}

func mapFilter(path string, o reading) (*stored, *Mapping, error) {
	f, m, err := Map(path, o.options(0))
	s, err := o.decode(f, err)
	return s, m, err
}

func filterFromBytes(b []byte, o reading) (*stored, error) {
	f, _, err := FromBytes(b, o.options(0))
	return o.decode(f, err)
}

// fileOf returns the file of a filter. The error wraps filter.ErrMismatch if the filter does not support the hash.
func fileOf(f family.Filter, h filter.Hasher) (*File, error) {
	e := f.(family.Encoder).Encode()
	family, err := families.ByName(e.Spec.Family())
	if err != nil {
		return nil, err
	}
	if !family.TakesHash(e.Spec, h.ID()) {
		return nil, fmt.Errorf("%s with hash %s: %w", e.Spec, h.ID(), filter.ErrMismatch)
	}
	file := New(family.ID, e, h)
	if c := exceptions(f); c != nil {
		file.Exceptions = c.Words()
	}
	return file, nil
}

// exceptions returns the exceptions of a filter, or nil.
func exceptions(f family.Filter) *except.Cascade {
	if e, ok := f.(*except.Filter); ok {
		return e.Cascade()
	}
	return nil
}

func writeFilter(w io.Writer, f family.Filter, h filter.Hasher, planned float64) error {
	file, err := fileOf(f, h)
	if err != nil {
		return err
	}
	file.FPRPlanned = planned
	return Write(w, file)
}

func writeFilterFile(ctx context.Context, path string, f family.Filter, h filter.Hasher) error {
	file, err := fileOf(f, h)
	if err != nil {
		return err
	}
	return WriteFile(ctx, path, file)
}

func replaceFilterFile(ctx context.Context, path string, f family.Filter, h filter.Hasher, was fs.FileInfo) error {
	file, err := fileOf(f, h)
	if err != nil {
		return err
	}
	return ReplaceFile(ctx, path, file, was)
}
