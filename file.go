package bloomery

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/inset"
)

// Open opens the Set in a file. Close it when done. A file of at least 1 MiB is mapped into memory: processes share it
// and pages are loaded on demand. With InMemory, or if the machine cannot map files, it is read. All checksums are
// verified first. The first change copies the filter: a Set never writes to its file, except with Save.
//
// The file may be replaced by rename while it is open, as Save does; see OpenLive to follow that. It must not be
// overwritten or truncated in place: answers may then be wrong, and Err returns an error.
//
// A folder, or the manifest.json in it, is a sharded set. Open then checks the manifest and the sizes and headers of
// all shards. A shard is loaded on first use, mapped or read like a file, and then compared completely with the
// manifest; Check does this for all. While a shard is not loaded, since that failed, Contains is true for its keys, and
// Err returns a *shard.Error that names it. After an error that may pass, such as too many open files, the first query
// of its keys after a pause loads it: after 100 ms, then after twice as long each time, at most 30 s. Damage is final.
// Shards that another process replaces stay readable. Symbolic links are followed: the manifest fixes the content. A
// shard takes one file descriptor while it is mapped.
//
// On error the Set is nil, and the error names the path and wraps that of the file system, container.ErrMagic,
// ErrVersion, ErrHash, ErrSecret (ErrNoSecret if none was given), ErrChecksum or ErrCorrupt, filter.ErrFamily,
// filter.ErrTooLarge or io.ErrUnexpectedEOF. For a sharded set it may also wrap ErrNoManifest, shard.ErrManifest,
// ErrForeign or ErrChanged.
func Open(path string, o ...Option) (*Set, error) {
	return openFile(path, optionsOf(0, o))
}

func openFile(path string, o options) (*Set, error) {
	if dir, ok := ShardedDir(path); ok {
		return openShards(dir, o)
	}
	if err := o.open(path); err != nil {
		return nil, err
	}
	var f *container.File
	var m *container.Mapping
	var err error
	if o.inMemory || o.concurrent {
		f, err = container.ReadFile(path, o.reading())
	} else {
		f, m, err = container.Map(path, o.reading())
	}
	if err != nil {
		return nil, err
	}
	set, err := o.set(f, m)
	if err != nil {
		if m != nil {
			_ = m.Close()
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

// Read reads a Set from r and stops at its end. Peak memory: the filter + 1 MiB if r is a regular file, a bytes.Reader,
// a bytes.Buffer or a strings.Reader; for others 1.5x the filter + 8 MiB per section, and at most 3x the bytes received
// + 8 MiB. A trimmed filter in addition takes its size in memory, at most 64x its file + 1 MiB. Errors are those of
// Open and of r.
func Read(r io.Reader, o ...Option) (*Set, error) {
	opts := optionsOf(DefaultMaxBytes, o)
	f, err := container.Read(r, opts.reading())
	if err != nil {
		return nil, err
	}
	return opts.set(f, nil)
}

// FromBytes returns a Set that reads b, which must be a whole filter file, without a copy. b must not change while the
// Set is in use. The first change of the Set copies the filter, so that it never writes to b. FromBytes itself copies b
// if it is not aligned to 8 bytes, if this machine is big-endian, or with WithConcurrent. Errors are those of Open.
func FromBytes(b []byte, o ...Option) (*Set, error) {
	opts := optionsOf(0, o)
	if opts.concurrent {
		b = bytes.Clone(b)
	}
	f, shared, err := container.FromBytes(b, opts.reading())
	if err != nil {
		return nil, err
	}
	set, err := opts.set(f, nil)
	if err == nil {
		set.borrowed = shared && !opts.concurrent
	}
	return set, err
}

// reading returns the options of container.Read, with a check of the header before memory is allocated.
func (o options) reading() container.Options {
	limit := o.maxBytes
	if limit == 0 {
		limit = math.MaxInt64
	}
	return container.Options{MaxBytes: limit, Regular: o.regular, Check: func(f *container.File, words []uint64) error {
		if err := families.Accept(f.Family, f.Spec, f.Hash, words, limit-f.Bytes); err != nil {
			return err
		}
		_, err := o.hasher(f)
		return err
	}}
}

// hasher returns the hasher of the keys of a file.
func (o options) hasher(f *container.File) (filter.Hasher, error) {
	if o.keyed != (filter.Hasher{}) && f.Hash == filter.SipHash && o.keyed.KeyCheck() == f.KeyCheck {
		return o.keyed, nil
	}
	return f.Hasher(o.secret)
}

// set returns the Set of a file. m is its mapping, or nil.
func (o options) set(f *container.File, m *container.Mapping) (*Set, error) {
	h, err := o.hasher(f)
	if err != nil {
		return nil, err
	}
	var decoded filter.Filter
	decode := func() {
		if decoded, err = families.Decode(f.Encoded); err == nil && f.Exceptions != nil {
			var c *except.Cascade
			if c, err = except.Decode(f.Exceptions); err == nil {
				decoded = except.New(decoded, c)
			}
		}
	}
	if m == nil {
		decode()
	} else if fault := m.Guard(decode); fault != nil {
		return nil, fault
	}
	if err != nil {
		return nil, &container.FormatError{Offset: f.SpecAt(), What: err.Error(), Err: container.ErrCorrupt}
	}
	set, err := newSet(decoded, h, o.concurrent)
	if err != nil {
		return nil, err
	}
	set.mapping, set.borrowed, set.plain = m, m != nil, set.plain && m == nil
	set.chosen = f.FPRChosen
	set.stored = Stored{Bytes: f.Bytes, Version: f.Version, Trimmed: !f.Spec.Equal(filter.SpecOf(decoded))}
	return set, nil
}

// encode returns the stored form of the filter.
func (s *Set) encode() (*container.File, error) {
	if s.shards != nil {
		return nil, errSharded
	}
	if s.filter == nil {
		return nil, s.empty()
	}
	plain, err := s.plainForm()
	if err != nil {
		return nil, err
	}
	enc, ok := plain.filter.(filter.Encoder)
	if !ok {
		return nil, fmt.Errorf("%T cannot be stored: %w", s.filter, filter.ErrUnsupported)
	}
	var e filter.Encoded
	if err := s.Guarded(func() error { e = enc.Encode(); return nil }); err != nil {
		return nil, err
	}
	family, err := families.ByName(e.Spec.Family())
	if err != nil {
		return nil, err
	}
	if !family.TakesHash(e.Spec, s.hasher.ID()) {
		return nil, fmt.Errorf("%s with hash %s: %w", e.Spec, s.hasher.ID(), filter.ErrMismatch)
	}
	file := container.New(family.ID, e, s.hasher)
	file.FPRChosen = s.chosen
	if _, c := plain.main(); c != nil {
		file.Exceptions = c.Words()
	}
	if s.mapping != nil {
		file.Intact = s.mapping.Err
	}
	return file, nil
}

// Save creates or replaces a file atomically: after a crash at any moment it is completely the old one or completely
// the new one. If ctx ends first, the file is unchanged. While others write to a Set for many writers, it saves a
// Snapshot.
//
// A sharded Set is saved as a folder: path is a new folder, or that of a sharded set, which is replaced as by
// Locked.Replace. If another process builds or changes the set there, the error wraps ErrLocked. Shards that are not
// loaded are read one after the other. A file of a sharded set is not replaced by a Set of one filter: the error then
// wraps filter.ErrConfig.
func (s *Set) Save(ctx context.Context, path string) error {
	if s.shards != nil {
		return s.saveShards(ctx, path)
	}
	if err := inset.Check(path); err != nil {
		return err
	}
	f, err := s.encode()
	if err != nil {
		return err
	}
	return s.Guarded(func() error { return container.WriteFile(ctx, path, f) })
}

// Replace is Save for a file that was read earlier; was is its os.FileInfo at that time. If the file has been replaced
// or written to since, Replace leaves it unchanged and returns an error wrapping container.ErrChanged. For a sharded
// Set path is the folder that it was opened from, and was that of the manifest.
func (s *Set) Replace(ctx context.Context, path string, was fs.FileInfo) error {
	if s.shards != nil {
		if s.shards.derive != nil || !sameFile(path, s.shards.dir) {
			return fmt.Errorf("%s is not the folder of the Set: %w; use Save", path, filter.ErrConfig)
		}
		return s.shards.replace(ctx, s, was)
	}
	if err := inset.Check(path); err != nil {
		return err
	}
	f, err := s.encode()
	if err != nil {
		return err
	}
	return s.Guarded(func() error { return container.ReplaceFile(ctx, path, f, was) })
}
