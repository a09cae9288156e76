// Package settest tests Sets through the public names of the root package. Its test files are named for what they test.
// settest.go contains helpers for these tests and for the tests of the root package, of sharded sets and of package
// window.
package settest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/shard"
)

// Must returns v. It panics if err is not nil.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Check ends the test if err is not nil.
func Check(t testing.TB, err error) {
	if err != nil {
		t.Helper() // only on failure: Helper is slow and tests check millions of calls
		t.Fatal(err)
	}
}

// Numbered yields n keys of a list, which differ from the keys of every other list.
func Numbered(list string, n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		key := []byte(list + "-")
		prefix := len(key)
		for i := range n {
			key = append(strconv.AppendInt(key[:prefix], int64(i), 10), ".example"...)
			if !yield(key) {
				return
			}
		}
	}
}

// Names returns n keys that begin with a prefix.
func Names(prefix string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return keys
}

// Words returns n keys.
func Words(n int) []string { return Names("key", n) }

// AsKeys returns names as keys.
func AsKeys(names []string) [][]byte {
	keys := make([][]byte, len(names))
	for i, n := range names {
		keys[i] = []byte(n)
	}
	return keys
}

// Integers returns n distinct keys. Keys of different series differ.
func Integers(n int, series uint64) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = (series<<40 + uint64(i)) * 0x9E3779B97F4A7C15
	}
	return keys
}

// Random returns n random hashes.
func Random(seed, n int) []filter.Hash {
	r := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	return hs
}

// OfShard returns the keys that belong to shard s of a set of shards shards.
func OfShard(keys []string, h filter.Hasher, s, shards int) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return shard.Route(h.SumString(k), shards) != s })
}

// SpecOf returns a spec of the family with which builds are fast.
func SpecOf(f families.Family) string {
	if f.Can.Has(family.CanSearch) {
		return f.Name + "(effort=fast)"
	}
	return f.Name
}

// Build builds the Set of keys.
func Build[K filter.Key](t testing.TB, keys []K, c bloomery.Config) *bloomery.Set {
	t.Helper()
	s, err := bloomery.Build(t.Context(), slices.Values(keys), c)
	Check(t, err)
	return s
}

// Exact fails the test unless a Set contains n members and none of the allowed keys, in single queries and in batches.
func Exact(t testing.TB, what string, s *bloomery.Set, n, allowed int) {
	t.Helper()
	exact := func(list string, size int, want bool) {
		var keys [][]byte
		for key := range Numbered(list, size) {
			keys = append(keys, bytes.Clone(key))
			if s.Contains(key) != want {
				t.Fatalf("%s: %s is present: %t", what, key, !want)
			}
		}

		many := make([]bool, size)
		bloomery.Keyed[[]byte](s).ContainsMany(many, keys)
		if i := slices.Index(many, !want); i >= 0 {
			t.Fatalf("%s: %s is present in a batch: %t", what, keys[i], !want)
		}
	}
	exact("member", n, true)
	exact("allowed", allowed, false)
}

// Querier lists the queries that a Set and a Live share.
type Querier interface {
	Contains(key []byte) bool
	ContainsString(key string) bool
	Err() error
	Close() error
}

// View calls f with the Set of a Querier.
func View(q Querier, f func(s *bloomery.Set)) {
	if l, ok := q.(*bloomery.Live); ok {
		l.View(f)
		return
	}
	f(q.(*bloomery.Set))
}

// HasUint64 reports whether the current file of l contains an integer.
func HasUint64(l *bloomery.Live, key uint64) (has bool) {
	l.View(func(s *bloomery.Set) { has = bloomery.Keyed[uint64](s).Contains(key) })
	return has
}

// InfoOf returns the Info of the current file.
func InfoOf(l *bloomery.Live) (i filter.Info) {
	l.View(func(s *bloomery.Set) { i = s.Info() })
	return i
}

// AddUint64 adds one integer as a key of eight bytes.
func AddUint64(b interface{ Add([]byte) error }, key uint64) error {
	return b.Add(binary.LittleEndian.AppendUint64(nil, key))
}

// EngineOf returns an Engine with a copy of the filter of s. s must consist of one filter and have no secret.
func EngineOf(t testing.TB, s *bloomery.Set) *one.Set {
	t.Helper()
	b, err := s.MarshalBinary()
	Check(t, err)
	e, err := one.FromBytes(b, engine.Options{})
	Check(t, err)
	return e
}

// Split returns s without its exceptions, and its exceptions, or nil if it has none.
func Split(t testing.TB, s *bloomery.Set) (*bloomery.Set, *except.Cascade) {
	t.Helper()
	main, cascade := except.Split(EngineOf(t, s).Facts().Filter)
	file, err := one.New(main, s.Hasher()).Encode()
	Check(t, err)

	b, err := container.Marshal(file)
	Check(t, err)
	plain, err := bloomery.FromBytes(b)
	Check(t, err)
	return plain, cascade
}

// SizesOfExceptions returns the geometry of the exceptions, or nil if there are none.
func SizesOfExceptions(t testing.TB, s *bloomery.Set) []except.Size {
	t.Helper()
	if _, c := Split(t, s); c != nil {
		return c.Sizes()
	}
	return nil
}

// RateOf returns the Rate of a number of false positives.
func RateOf(falsePositives, trials uint64) bloomery.Rate {
	r := bloomery.Rate{Trials: trials, FalsePositives: falsePositives}
	r.Observed, r.Low, r.High = bulk.Interval(falsePositives, trials)
	return r
}

// RemoveMany removes keys with the guard of Removal.
func RemoveMany(s *bloomery.Set, keys [][]byte) (bloomery.Removed, error) {
	r, err := s.Removal(bloomery.JobConfig{})
	if err != nil {
		return bloomery.Removed{}, err
	}
	defer r.Close()

	if err := r.AddMany(keys); err != nil {
		return bloomery.Removed{}, err
	}
	return r.Commit(context.Background())
}

// Optimize returns the result of an Optimizer with the default effort.
func Optimize(ctx context.Context, s *bloomery.Set, keys iter.Seq[[]byte]) (*bloomery.Set, error) {
	o, err := s.Optimizer(bloomery.JobConfig{})
	if err != nil {
		return nil, err
	}
	defer o.Close()

	if err := intake.Copies(ctx, keys, o.AddMany); err != nil {
		return nil, err
	}
	return o.Commit(ctx)
}

// CommitWith commits s in place of the locked Set.
func CommitWith(ctx context.Context, l *bloomery.Locked, s *bloomery.Set) error {
	l.Set = s
	return l.Commit(ctx)
}

// Eventually waits until f is true, and fails after a minute.
func Eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// ReadAll returns the contents of a file.
func ReadAll(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	Check(t, err)
	return b
}

// FilesOf returns the files of a folder by name.
func FilesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	all, err := os.ReadDir(dir)
	Check(t, err)
	for _, e := range all {
		files[e.Name()] = string(ReadAll(t, filepath.Join(dir, e.Name())))
	}
	return files
}

// Entries returns the names of the files in a folder.
func Entries(t testing.TB, dir string) []string { return slices.Sorted(maps.Keys(FilesOf(t, dir))) }

// OpenSet opens a Set until the end of a test.
func OpenSet(t testing.TB, path string) *bloomery.Set {
	t.Helper()
	set, err := bloomery.Open(t.Context(), path)
	Check(t, err)
	t.Cleanup(func() { _ = set.Close() })
	return set
}

// Save writes a set to a new file.
func Save(t testing.TB, s *bloomery.Set) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.bloom")
	Check(t, s.Save(t.Context(), path))
	return path
}

// Large makes a file that is mapped: more than 1 MiB.
func Large(t testing.TB, path string, from uint64) {
	t.Helper()
	keys := make([]uint64, 1000)
	for i := range keys {
		keys[i] = from + uint64(i)
	}
	Check(t, Build(t, keys, bloomery.Config{Spec: "standard(k=7,m=16777216)"}).Save(t.Context(), path))
}

// WriteIntegers builds a sharded set, or with shards 0 a file, and returns its path.
func WriteIntegers(t testing.TB, spec string, shards int, keys []uint64) string {
	t.Helper()
	path, c := filepath.Join(t.TempDir(), fmt.Sprint(shards)), bloomery.Config{Spec: spec,
		Sharding: bloomery.Sharding{Shards: shards}}
	if shards == 0 {
		Check(t, Build(t, keys, c).Save(t.Context(), path))
		return path
	}
	_, err := BuildShards(t.Context(), slices.Values(keys), path, c)
	Check(t, err)
	return path
}

// Shard returns a copy of a shard of a sharded Set in a folder.
func Shard(t testing.TB, dir string, s *bloomery.Set, i int) *bloomery.Set {
	t.Helper()
	part, err := bloomery.FromBytes(ReadAll(t, filepath.Join(dir, s.Manifest().Shards[i].File)))
	Check(t, err)
	return part
}

// ShardBuilder is a bloomery.Builder of a sharded set whose Build returns the manifest.
type ShardBuilder struct{ *bloomery.Builder }

// NewShardBuilder returns a ShardBuilder of the set in a folder.
func NewShardBuilder(dir string, c bloomery.Config) (*ShardBuilder, error) {
	c.Sharding.Dir = dir
	b, err := bloomery.NewBuilder(context.Background(), c)
	return &ShardBuilder{b}, err
}

// Build writes the set and returns its manifest.
func (b *ShardBuilder) Build(ctx context.Context) (*shard.Manifest, error) {
	return manifestOf(b.Builder.Build(ctx))
}

// BuildShards builds the sharded set of keys in a folder.
func BuildShards[K filter.Key](
	ctx context.Context, keys iter.Seq[K], dir string, c bloomery.Config,
) (*shard.Manifest, error) {
	c.Sharding.Dir = dir
	return manifestOf(bloomery.Build(ctx, keys, c))
}

func manifestOf(s *bloomery.Set, err error) (*shard.Manifest, error) {
	if err != nil {
		return nil, err
	}
	return s.Manifest(), errors.Join(s.Err(), s.Close())
}
