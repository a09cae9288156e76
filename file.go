package bloomery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/flock"
	"github.com/bloomery/bloomery/internal/handle"
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
// If ctx ends first, Open returns its cause. On error the Set is nil, and the error names the path and wraps that of the file system, filter.ErrMagic,
// ErrVersion, ErrHash, ErrSecret (ErrNoSecret if none was given), ErrChecksum or ErrCorrupt, filter.ErrFamily,
// filter.ErrTooLarge or io.ErrUnexpectedEOF. For a sharded set it may also wrap filter.ErrNoManifest, shard.ErrManifest,
// ErrForeign or ErrChanged.
func Open(ctx context.Context, path string, o ...Option) (*Set, error) {
	return openFile(ctx, path, optionsOf(0, o))
}

func openFile(ctx context.Context, path string, o options) (*Set, error) {
	return made(openEngine(ctx, path, o))
}

func openEngine(ctx context.Context, path string, o options) (engine.Engine, error) {
	if dir, ok := inset.Dir(path); ok {
		return family.As[engine.Engine](shards.Open(ctx, dir, o.Options))
	}
	return family.As[engine.Engine](one.Open(ctx, path, o.Options))
}

// Read reads a Set from r and stops at its end. Peak memory: the filter + 1 MiB if r is a regular file, a bytes.Reader,
// a bytes.Buffer or a strings.Reader; for others 1.5x the filter + 8 MiB per section, and at most 3x the bytes received
// + 8 MiB. A trimmed filter in addition takes its size in memory, at most 64x its file + 1 MiB. Errors are those of
// Open and of r.
func Read(r io.Reader, o ...Option) (*Set, error) {
	return made(one.Read(r, optionsOf(DefaultMaxBytes, o).Options))
}

// FromBytes returns a Set that reads b, which must be a whole filter file, without a copy. b must not change while the
// Set is in use. The first change of the Set copies the filter, so that it never writes to b. FromBytes itself copies b
// if it is not aligned to 8 bytes, if this machine is big-endian, or with WithConcurrent. Errors are those of Open.
func FromBytes(b []byte, o ...Option) (*Set, error) {
	return made(one.FromBytes(b, optionsOf(0, o).Options))
}

// Save creates or replaces a file atomically: after a crash at any moment it is completely the old one or completely
// the new one. If ctx ends first, the file is unchanged. While others write to a Set for many writers, it saves a
// Snapshot.
//
// A sharded Set is saved as a folder: path is a new folder, or that of a sharded set, which is replaced as by
// Locked.Commit. If another process builds or changes the set there, the error wraps filter.ErrLocked. Shards that are not
// loaded are read one after the other. A file of a sharded set is not replaced by a Set of one filter: the error then
// wraps filter.ErrConfig.
func (s *Set) Save(ctx context.Context, path string) error { return s.inner().Save(ctx, path) }

// DefaultMaxBytes is the largest filter that Read and UnmarshalBinary take without WithMaxBytes: 1 GiB.
const DefaultMaxBytes = 1 << 30

// Option is an option of Open, OpenLive, Read and FromBytes.
type Option func(*options)

type options struct {
	engine.Options
	interval time.Duration
	waiting  func()
	update   func(context.Context, handle.Updated)
}

func optionsOf(maxBytes uint64, all []Option) options {
	o := options{Options: engine.Options{MaxBytes: maxBytes}}
	for _, set := range all {
		if set != nil {
			set(&o)
		}
	}
	return o
}

// WithSecret sets the secret of a filter that was built with Config.Secret. It is ignored for other filters.
func WithSecret(secret *filter.Secret) Option {
	return func(o *options) { o.Secret = secret }
}

// WithMaxBytes limits the size of the filter, or of all shards of a sharded set together, including the header, and for
// a trimmed one its size in memory. Above the limit the error wraps filter.ErrTooLarge. Default: DefaultMaxBytes for
// Read, and no limit for Open, OpenLive and FromBytes, which need at most 64x the size of their input + 1 MiB.
func WithMaxBytes(n uint64) Option {
	return func(o *options) { o.MaxBytes = max(n, 1) }
}

// WithConcurrent makes the Set safe for many writers, like Config.Concurrent. The file, or every shard of a sharded
// set, is read into memory.
func WithConcurrent() Option {
	return func(o *options) { o.Concurrent = true }
}

// WithWaiting makes Lock call waiting before it waits for another process that holds the lock.
func WithWaiting(waiting func()) Option {
	return func(o *options) { o.waiting = waiting }
}

// InMemory makes Open and OpenLive read the file, or every shard, into memory instead of mapping it. Later changes of
// the file then do not affect the Set.
func InMemory() Option {
	return func(o *options) { o.InMemory = true }
}

// Locked is the Set of a file that is locked for a change. The lock is advisory: it only blocks other calls of Lock,
// and on Windows, js and wasip1 it blocks nothing. Commit detects every other change of the file.
//
// For a sharded set the lock is that of its folder. Shards are loaded on first use. Changed ones stay in memory up to
// 1 GiB; then they are written to new files, which no one reads until Commit.
type Locked struct {
	*Set          // replace it to write another one, such as the result of an Optimizer
	was      *Set // that of Lock
	path     string
	file     *os.File // of a lock; nil for a sharded set, which has its own
	replaced fs.FileInfo
	closed   bool
}

// Lock locks a filter file, or the folder of a sharded set, for a change and reads it into memory. It waits while
// another process holds the lock; before that it calls the function of WithWaiting. Close it when done. Errors are those of
// Open, and ctx.Err() when ctx ends; for one shard of a sharded set, which changes only with its folder, the error
// wraps filter.ErrConfig.
//
//	l, err := bloomery.Lock(ctx, path)
//	if err != nil { ... }
//	defer l.Close()
//	err = l.AddString("a new key")
//	if err != nil { ... }
//	err = l.Commit(ctx)
func Lock(ctx context.Context, path string, o ...Option) (*Locked, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	opts := optionsOf(0, o)
	if dir, ok := inset.Dir(path); ok {
		t, was, err := shards.Lock(ctx, dir, opts.waiting, opts.Options)
		s, err := made(t, err)
		if err != nil {
			return nil, err
		}
		return &Locked{Set: s, was: s, path: dir, replaced: was}, nil
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err := inset.Check(path); err != nil {
		return nil, err
	}
	file, was, err := flock.Lock(ctx, path, opts.waiting)
	if err != nil {
		return nil, err
	}
	opts.InMemory = true
	s, err := openFile(ctx, path, opts)
	if err != nil {
		_ = flock.Unlock(file)
		return nil, err
	}
	return &Locked{Set: s, was: s, path: path, file: file, replaced: was}, nil
}

var errUnlocked = fmt.Errorf("the lock is %w, and Commit needs it", filter.ErrClosed)

// Commit replaces the file by the set, atomically. Of a sharded set it writes the changed shards to files of new names,
// then replaces the manifest, then removes the old files: after a crash the folder has the old set or the new one. If a
// process without the lock has replaced or written to the file, Commit leaves it unchanged and returns an error
// wrapping filter.ErrChanged. Call it at most once, and before Close: after Close it returns an error.
func (l *Locked) Commit(ctx context.Context) error {
	if l.closed {
		return fmt.Errorf("%s: %w", l.path, errUnlocked)
	}
	return l.was.inner().Replace(ctx, l.path, l.replaced, l.inner())
}

// Close releases the lock. The Set remains usable, unless it is sharded. A second Close does nothing.
func (l *Locked) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	err := l.was.inner().Close()
	if l.file != nil {
		err = errors.Join(err, flock.Unlock(l.file))
	}
	return err
}
