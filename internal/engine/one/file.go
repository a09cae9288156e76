package one

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardset"
)

// Open opens the filter in a file, mapped or in memory.
func Open(ctx context.Context, path string, o engine.Options) (*Set, error) {
	if err := o.Open(path); err != nil {
		return nil, err
	}

	var f *container.File
	var m *container.Mapping
	var err error
	how := reading(o)
	how.Context = ctx
	// A filter for many writers changes in place, and a mapping is read-only.
	if o.InMemory || o.Concurrent {
		f, err = container.ReadFile(path, how)
	} else {
		f, m, err = container.Map(path, how)
	}
	if err != nil {
		return nil, err
	}

	s, err := Decode(f, m, o)
	if err != nil {
		_ = m.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Read reads a filter from r and stops at its end.
func Read(r io.Reader, o engine.Options) (*Set, error) {
	f, err := container.Read(r, reading(o))
	if err != nil {
		return nil, err
	}
	return Decode(f, nil, o)
}

// Unmarshal reads a filter from b, a whole filter file, into memory of its own.
func Unmarshal(b []byte, o engine.Options) (*Set, error) {
	r := bytes.NewReader(b)
	s, err := Read(r, o)
	if err == nil && r.Len() > 0 {
		at := uint64(len(b) - r.Len())
		return nil, container.Broken(at, "bytes behind the filter", filter.ErrCorrupt)
	}
	return s, err
}

// FromBytes returns a Set that reads b, a whole filter file. It copies b if o.Concurrent is set, if b is not aligned to
// 8 bytes, or on a big-endian machine.
func FromBytes(b []byte, o engine.Options) (*Set, error) {
	if o.Concurrent {
		// Many writers change the words, and b belongs to the caller.
		b = bytes.Clone(b)
	}

	f, shared, err := container.FromBytes(b, reading(o))
	if err != nil {
		return nil, err
	}

	s, err := Decode(f, nil, o)
	if err == nil {
		s.borrowed = shared && !o.Concurrent
	}
	return s, err
}

// reading returns the options of container.Read, with a check of the header before memory is allocated.
func reading(o engine.Options) container.Options {
	limit := o.Limit()
	return container.Options{MaxBytes: limit, Regular: o.Regular, Check: func(f *container.File, words []uint64) error {
		// Both checks see only the header, so a hostile file is refused before memory is allocated.
		if err := families.Accept(f.Family, f.Spec, f.Hash, words, limit-f.Bytes); err != nil {
			return err
		}
		_, err := o.Hasher(f)
		return err
	}}
}

// Decode returns the Set of a file. m is its mapping, or nil.
func Decode(f *container.File, m *container.Mapping, o engine.Options) (*Set, error) {
	h, err := o.Hasher(f)
	if err != nil {
		return nil, err
	}

	var decoded family.Filter
	decode := func() {
		if decoded, err = families.Decode(f.Encoded); err == nil {
			decoded, err = except.Wrap(decoded, f.Exceptions)
		}
	}
	if fault := m.Guard(decode); fault != nil {
		return nil, fault
	}
	if err != nil {
		return nil, container.Broken(f.SpecAt(), err.Error(), filter.ErrCorrupt)
	}

	s, err := NewForm(decoded, h, o.Concurrent)
	if err != nil {
		return nil, err
	}

	s.file, s.borrowed, s.planned = m, m != nil, f.FPRPlanned
	s.stored = engine.Stored{Bytes: f.Bytes, Trimmed: f.Spec != family.SpecOf(decoded)}
	return s, nil
}

// Encode returns the stored form of the filter.
func (s *Set) Encode() (*container.File, error) {
	plain, err := s.Single()
	if err != nil {
		return nil, err
	}

	enc, ok := plain.filter.(family.Encoder)
	if !ok {
		return nil, fmt.Errorf("%T cannot be stored: %w", s.filter, filter.ErrUnsupported)
	}

	var e family.Encoded
	if err := s.Guarded(func() error { e = enc.Encode(); return nil }); err != nil {
		return nil, err
	}

	family, err := families.FormatOf(e.Spec.Family())
	if err != nil {
		return nil, err
	}
	if !family.TakesHash(e.Spec, s.hasher.ID()) {
		return nil, fmt.Errorf("%s with hash %s: %w", e.Spec, s.hasher.ID(), filter.ErrMismatch)
	}

	file := container.New(family.ID, e, s.hasher)
	file.FPRPlanned, file.Intact = s.planned, s.file.Err
	if s.exceptions != nil {
		file.Exceptions = s.exceptions.Words()
	}
	return file, nil
}

// Save creates or replaces a file atomically.
func (s *Set) Save(ctx context.Context, path string) error {
	return s.writeFile(path, func(f *container.File) error { return container.WriteFile(ctx, path, f) })
}

// Replace saves by, a Set of one filter, to a file that was read earlier; was describes that file at that time.
func (s *Set) Replace(ctx context.Context, path string, was fs.FileInfo, by engine.Engine) error {
	next, err := s.otherOne(by)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return next.writeFile(path, func(f *container.File) error { return container.ReplaceFile(ctx, path, f, was) })
}

// writeFile calls f with the stored form of the filter, unless path is the path of a shard.
func (s *Set) writeFile(path string, f func(*container.File) error) error {
	if err := shardset.CheckFile(path); err != nil {
		return err
	}
	return engine.Stream(s, f)
}

// Check returns Err: a file is checked when it is opened.
func (s *Set) Check(context.Context, func(uint64)) error { return s.Err() }

// Close unmaps the file, if there is one. Contains returns true afterwards.
func (s *Set) Close() error {
	// Only a mapped file needs closing. A filter in memory answers as before.
	file := s.file
	if file == nil {
		return nil
	}
	s.become(nothing{engine.ErrClosed}, filter.Hasher{})
	s.stored = engine.Stored{}
	s.failed(engine.ErrClosed)
	return file.Close()
}
