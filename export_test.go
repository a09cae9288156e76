package bloomery

import (
	"context"
	"encoding/binary"
	"io/fs"
	"iter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/shard"
)

// SetDerivedMemory sets the size up to which a derived sharded Set stays in memory and returns the old one.
func SetDerivedMemory(n uint64) (old uint64) {
	old, shards.DerivedMemory = shards.DerivedMemory, n
	return old
}

// WithOpening has f called with the path of each file, or each shard, before it is opened, mapped or
// read. An error of f takes the place of that of the system.
func WithOpening(f func(path string) error) Option {
	return func(o *options) { o.Opening = f }
}

// Begin begins a change of a Set and returns what ends it.
func Begin(s *Set) (end func()) {
	s.begin()
	return s.end
}

// SetLockedMemory sets the memory limit of a Locked sharded Set and returns the old one.
func SetLockedMemory(n int64) (old int64) {
	old, shards.LockedMemory = shards.LockedMemory, n
	return old
}

// ErrSpent is the error of a Builder that takes no more keys.
var ErrSpent = intake.ErrSpent

// ErrUnlocked is the error of a Locked that was closed.
var ErrUnlocked = errUnlocked

// buildShards builds the sharded set of keys in a folder, and returns its manifest.
func buildShards[K filter.Key](ctx context.Context, keys iter.Seq[K], dir string, c Config) (*shard.Manifest, error) {
	c.Dir = dir
	s, err := Build(ctx, keys, c)
	if err != nil {
		return nil, err
	}
	return s.Manifest(), s.Close()
}

// RemoveMany removes keys with the guard of Removal.
func RemoveMany(s *Set, keys [][]byte) (Removed, error) {
	r, err := s.Removal(JobConfig{})
	if err != nil {
		return Removed{}, err
	}
	defer r.Close()
	if err := r.AddMany(keys); err != nil {
		return Removed{}, err
	}
	return r.Commit(context.Background())
}

// CommitWith is Locked.Commit of another Set.
func CommitWith(ctx context.Context, l *Locked, s *Set) error {
	l.Set = s
	return l.Commit(ctx)
}

// ReplaceFile is what Locked.Commit does.
func ReplaceFile(ctx context.Context, s *Set, path string, was fs.FileInfo) error {
	return s.inner().Replace(ctx, path, was, s.inner())
}

// Resolve is Config.resolve.
func (c Config) Resolve(ctx context.Context) (Config, error) { return c.resolve(ctx) }

// RateOf returns the Rate of that many false positives.
func RateOf(falsePositives, trials uint64) Rate {
	r := Rate{Trials: trials, FalsePositives: falsePositives}
	r.Observed, r.Low, r.High = bulk.Interval(falsePositives, trials)
	return r
}

// HasUint64 reports whether the current file contains an integer.
func (l *Live) HasUint64(key uint64) (has bool) {
	l.View(func(s *Set) { has = Keyed[uint64](s).Contains(key) })
	return has
}

// Info is that of the current file.
func (l *Live) Info() (i filter.Info) {
	l.View(func(s *Set) { i = s.Info() })
	return i
}

// AddUint64 adds an integer as users do who have no sequence of them.
func (b *Builder) AddUint64(key uint64) error {
	return b.Add(binary.LittleEndian.AppendUint64(nil, key))
}

// AddHash adds one hash.
func (b *Builder) AddHash(h filter.Hash) error { return b.AddHashes([]filter.Hash{h}) }

// AddValueString adds a string with its value.
func (b *Builder) AddValueString(key string, value uint64) error {
	return b.AddValue([]byte(key), value)
}

// Optimize makes s the result of an Optimizer with the default effort.
func Optimize(ctx context.Context, s *Set, keys iter.Seq[[]byte]) error {
	o, err := s.Optimizer(JobConfig{})
	if err != nil {
		return err
	}
	defer o.Close()
	if err := intake.Copies(ctx, keys, o.AddMany); err != nil {
		return err
	}
	better, err := o.Commit(ctx)
	if err == nil {
		err = s.engine.Take(better.engine)
		s.end()
	}
	return err
}

// EngineOf returns the Engine of a Set.
func EngineOf(s *Set) engine.Engine { return s.inner() }

// FilterOf returns the filter of a Set, or nil if there is none or several.
func FilterOf(s *Set) family.Filter { return s.inner().Facts().Filter }

// SetOf returns a Set of a filter and the hasher of its keys.
func SetOf(f family.Filter, h filter.Hasher) *Set { return setOf(one.New(f, h)) }

// Shard returns a shard of a sharded Set.
func Shard(s *Set, i int) (*Set, error) { return made(s.inner().Parts().Shard(i)) }

// main returns the filter without its exceptions, and these, or nil if it has none.
func (s *Set) main() (family.Filter, *except.Cascade) { return except.Split(FilterOf(s)) }

// sizesOfExceptions returns the geometry of the exceptions, or nil if there are none.
func (s *Set) sizesOfExceptions() []except.Size {
	if _, c := s.main(); c != nil {
		return c.Sizes()
	}
	return nil
}

// sizesOf returns the numbers of an Info that a manifest does not have.
func sizesOf(i filter.Info) [4]uint64 {
	return [4]uint64{i.Bits, i.Allowed, i.Exceptions, i.ExceptionBits}
}
