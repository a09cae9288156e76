package bloomery

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardset"
)

// Open opens the Set in a file. Close it when done. A file of at least 1 MiB is mapped into memory: processes share it
// and pages are loaded on demand. With InMemory, or if the machine cannot map files, it is read. All checksums are
// verified first. The first change copies the filter: only Save writes to a file.
//
// The file may be replaced by rename while it is open, as Save does; see [OpenLive]. It must not be overwritten or
// truncated in place: answers may then be wrong, and Err returns an error.
//
// A folder, or the manifest.json in it, is a sharded set. Open then checks the manifest and the size and header of
// every shard. A shard is loaded and checked at its first query; [Set.Check] checks all. If a shard cannot be loaded,
// Contains is true for its keys, and Err returns a *shard.Error; after a transient error, a later query tries again, as
// a [Live] does. Shards that another process replaces stay readable. See the [guide to sharded sets].
//
// If ctx ends first, Open returns its cause. Other errors name the path and wrap the error of the file system,
// filter.ErrMagic, ErrVersion, ErrHash, ErrSecret (ErrNoSecret if none was given), ErrChecksum, ErrCorrupt, ErrFamily,
// ErrTooLarge or io.ErrUnexpectedEOF; for a sharded set also filter.ErrNoManifest, shard.ErrManifest, ErrForeign or
// ErrChanged.
//
// [guide to sharded sets]: https://github.com/bloomery/bloomery/blob/main/docs/guides/large.md
func Open(ctx context.Context, path string, o ...Option) (*Set, error) {
	return openFile(ctx, path, optionsOf(0, o))
}

func openFile(ctx context.Context, path string, o options) (*Set, error) {
	return made(openEngine(ctx, path, o))
}

func openEngine(ctx context.Context, path string, o options) (engine.Engine, error) {
	if dir, ok := shardset.Dir(path); ok {
		return family.As[engine.Engine](shards.Open(ctx, dir, o.Options))
	}
	return family.As[engine.Engine](one.Open(ctx, path, o.Options))
}

// Read reads a Set from r and stops at its end. Peak memory: the filter + 1 MiB if r is a regular file, a bytes.Reader,
// a bytes.Buffer or a strings.Reader; for others 1.5x the filter + 8 MiB per section, and at most 3x the bytes received
// + 8 MiB. A trimmed filter also takes its size in memory, at most 64x its file + 1 MiB. Errors come from [Open] and
// from r.
func Read(r io.Reader, o ...Option) (*Set, error) {
	return made(one.Read(r, optionsOf(DefaultMaxBytes, o).Options))
}

// FromBytes returns a Set that reads b, which must be a whole filter file, without a copy. b must not change while the
// Set is in use; the Set never writes to it: its first change copies the filter. FromBytes itself copies b if it is not
// aligned to 8 bytes, on a big-endian machine, or with WithConcurrent. Errors: see [Open].
func FromBytes(b []byte, o ...Option) (*Set, error) {
	return made(one.FromBytes(b, optionsOf(0, o).Options))
}

// Save creates or replaces a file atomically: after a crash it is completely the old one or completely the new one. If
// ctx ends first, the file is unchanged. If other goroutines write to a Set for many writers meanwhile, Save writes the
// keys that a Clone would have.
//
// A sharded Set is saved as a folder: path is a new folder, or the folder of a sharded set, which is replaced as by
// [Locked.Commit]. If another process builds or changes the set there, the error wraps filter.ErrLocked. A Set of one
// filter does not replace a file of a sharded set: the error then wraps filter.ErrConfig.
func (s *Set) Save(ctx context.Context, path string) error { return s.inner().Save(ctx, path) }

// DefaultMaxBytes is the largest filter that Read and UnmarshalBinary take without WithMaxBytes: 1 GiB.
const DefaultMaxBytes = 1 << 30

// Option is an option of Open, OpenLive, Lock, Read, FromBytes, MergeFiles, IntersectFiles and interop.Read.
type Option func(*options)

type options struct {
	engine.Options
	interval time.Duration
	waiting  func()
	update   func(ctx context.Context, l *Live, report func(error))
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

// WithSecret sets the secret of a filter that was built with Config.Hashing.Secret. For other filters it has no effect.
func WithSecret(secret *filter.Secret) Option {
	return func(o *options) { o.Secret = secret }
}

// WithMaxBytes limits the size of the file, or of all shards of a sharded set together, and of a trimmed filter also in
// memory. Above it the error wraps filter.ErrTooLarge. Default: [DefaultMaxBytes] for Read, and no limit for Open,
// OpenLive and FromBytes, which need at most 64x the size of their input + 1 MiB.
func WithMaxBytes(n uint64) Option {
	return func(o *options) { o.MaxBytes = max(n, 1) }
}

// WithConcurrent makes the Set safe for many writers, like Config.Concurrent. The file, or every shard of a sharded
// set, is read into memory.
func WithConcurrent() Option { return func(o *options) { o.Concurrent = true } }

// WithWaiting makes Lock call waiting before it waits for another process that holds the lock.
func WithWaiting(waiting func()) Option {
	return func(o *options) { o.waiting = waiting }
}

// InMemory makes Open and OpenLive read the file, or every shard, into memory instead of mapping it. Later changes of
// the file then do not affect the Set.
func InMemory() Option { return func(o *options) { o.InMemory = true } }

// Locked is the Set of a file that is locked for a change. The lock is advisory: it only blocks other calls of Lock. On
// Windows it locks a separate file, path.lock, which Close removes; on js and wasip1 it blocks nothing. Commit
// detects every other change of the file.
//
// For a sharded set the folder is locked. Shards are loaded on first use. Changed ones stay in memory up to 1
// GiB; then they are written to new files, which no one reads until Commit.
type Locked struct {
	*Set          // replace it to write another one, such as the result of an Optimizer
	was      *Set // the Set that Lock opened
	path     string
	file     *os.File // the locked file; nil for a sharded set, which has its own lock
	replaced fs.FileInfo
	closed   bool
}

// Lock locks a filter file, or the folder of a sharded set, for a change and reads it into memory. If another process
// holds the lock, it calls the function of [WithWaiting] and waits. Close it when done. Errors come from [Open] and
// ctx.Err(). For one shard of a sharded set, which changes only with its folder, the error wraps filter.ErrConfig.
func Lock(ctx context.Context, path string, o ...Option) (*Locked, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}

	opts := optionsOf(0, o)
	if dir, ok := shardset.Dir(path); ok {
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
	if err := shardset.CheckFile(path); err != nil {
		return nil, err
	}

	file, was, err := container.Lock(ctx, path, opts.waiting)
	if err != nil {
		return nil, err
	}

	opts.InMemory = true
	s, err := openFile(ctx, path, opts)
	if err != nil {
		_ = container.Unlock(file)
		return nil, err
	}
	return &Locked{Set: s, was: s, path: path, file: file, replaced: was}, nil
}

var errUnlocked = fmt.Errorf("the lock is %w, and Commit needs it", filter.ErrClosed)

// Commit replaces the file by the set, atomically. For a sharded set it writes the changed shards to files with new
// names, then replaces the manifest, then removes the old files: after a crash the folder has the old set or the new
// one. If a process without the lock has changed the file, Commit leaves it unchanged and returns an error wrapping
// filter.ErrChanged. Call it at most once, before Close.
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
		err = errors.Join(err, container.Unlock(l.file))
	}
	return err
}

// WriteTo writes the set in the file format. If other goroutines write to a Set for many writers meanwhile, it writes
// the keys that a Clone would have.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	c := container.Counter{To: w}
	err := engine.Stream(s.inner(), func(f *container.File) error { return container.Write(&c, f) })
	return c.N, err
}

// MarshalBinary returns the set in the file format.
func (s *Set) MarshalBinary() ([]byte, error) {
	var b []byte
	err := engine.Stream(s.inner(), func(f *container.File) (err error) {
		b, err = container.Marshal(f)
		return err
	})
	return b, err
}

// MarshalText returns the set in the file format, in base64: a Set in JSON is a string. Package log/slog calls it too:
// log String, which is short.
func (s *Set) MarshalText() ([]byte, error) {
	b, err := s.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalBinary replaces s by the set in b, a whole filter file of at most [DefaultMaxBytes], which it copies. It
// needs exclusive use, also of a Set for many writers, which remains one: during queries, decode into a new Set. For a
// filter with a secret, s must have the secret already, or the error wraps filter.ErrSecret; see FromBytes and
// WithSecret. On error s is unchanged, but a Set without a filter then answers true, and its Err returns the error.
func (s *Set) UnmarshalBinary(b []byte) error {
	s.begin()
	defer s.end()
	return s.refuse(s.unmarshal(b))
}

// UnmarshalText is UnmarshalBinary for base64, of which it skips line breaks; for other text the error wraps
// filter.ErrCorrupt. Use *Set in structs. json.Unmarshal calls it on the Set that the field points to, if any.
func (s *Set) UnmarshalText(text []byte) error {
	s.begin()
	defer s.end()
	b, err := container.DecodeText(text, DefaultMaxBytes)
	if err != nil {
		return s.refuse(err)
	}
	return s.refuse(s.unmarshal(b))
}

// refuse returns the error of a read. After an error, a Set without a filter answers true: with false, its keys would
// seem to be absent.
func (s *Set) refuse(err error) error {
	if err != nil && s.isEmpty() {
		s.take(one.Nothing(s.Hasher(), err))
	}
	return err
}

func (s *Set) unmarshal(b []byte) error {
	if len(b) > DefaultMaxBytes {
		return fmt.Errorf("%d bytes, at most %d: %w; take FromBytes", len(b), DefaultMaxBytes, filter.ErrTooLarge)
	}

	old := s.inner()
	_, concurrent := old.Facts().Filter.(family.Concurrent)
	set, err := one.Unmarshal(b, engine.Options{MaxBytes: DefaultMaxBytes, Keyed: s.Hasher(), Concurrent: concurrent})
	if err != nil {
		return err
	}

	s.take(set)
	return old.Close()
}

// String describes the set: its Spec, its hash function and the number of keys.
func (s *Set) String() string {
	if s.isEmpty() {
		return "bloomery.Set()"
	}
	of := ""
	if n := s.inner().Facts().Stored.Shards; n > 0 {
		of = fmt.Sprintf("%d shards of ", n)
	}
	return fmt.Sprintf("bloomery.Set(%s%s, %s, %d keys)", of, s.Spec(), s.Hasher().ID(), s.Len())
}

// Format prints String for every verb.
func (s *Set) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }
