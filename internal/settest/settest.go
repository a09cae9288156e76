// Package settest tests Sets through the public names of the root package. Its tests have the names of what they test.
// The file settest.go has what they share with the tests of the root, of sharded sets and of package window.
package settest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

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

// Exact requires that a Set contains n members and none of the allowed keys, one by one and in batches.
func Exact(t testing.TB, what string, s *bloomery.Set, n, allowed int) {
	t.Helper()
	for list, want := range map[string]bool{"member": true, "allowed": false} {
		size := map[bool]int{true: n, false: allowed}[want]
		keys, room := make([][]byte, 0, size), make([]byte, 0, size*(len(list)+20))
		for key := range Numbered(list, size) {
			start := len(room)
			room = append(room, key...)
			keys = append(keys, room[start:])
			if s.Contains(key) != want {
				t.Fatalf("%s: %s is present: %t", what, key, !want)
			}
		}
		many := make([]bool, len(keys))
		bloomery.Keyed[[]byte](s).ContainsMany(many, keys)
		for i, has := range many {
			if has != want {
				t.Fatalf("%s: %s is present in a batch: %t", what, keys[i], has)
			}
		}
	}
}

// Words returns n distinct keys.
func Words(n int) []string {
	ws := make([]string, n)
	for i := range ws {
		ws[i] = fmt.Sprintf("key-%d", i)
	}
	return ws
}

// SpecOf returns a spec of a family that builds fast.
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
	if err != nil {
		t.Fatal(err)
	}
	return s
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

// Querier has the queries that a Set and a Live share.
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

// FileBytes returns the length in bytes of the file of a Set.
func FileBytes(t *testing.T, s *bloomery.Set) uint64 {
	t.Helper()
	n, err := s.WriteTo(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(n)
}

// Entries returns the names of the files in a folder.
func Entries(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// Save writes a set to a new file.
func Save(t testing.TB, s *bloomery.Set) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.bloom")
	if err := s.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Large makes a file that is mapped: more than 1 MiB.
func Large(t testing.TB, path string, from uint64) {
	t.Helper()
	s, err := bloomery.New(bloomery.Config{Spec: "standard(k=7,m=16777216)"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(1000) {
		if err := bloomery.Keyed[uint64](s).Add(from + i); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
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

// FilesOf returns the files of a folder by name.
func FilesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

// OfShard returns the keys of a shard.
func OfShard(keys []string, h filter.Hasher, s, shards int) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return shard.Route(h.SumString(k), shards) != s })
}

// Integers returns n distinct keys. Keys of different series differ.
func Integers(n int, series uint64) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = (series<<40 + uint64(i)) * 0x9E3779B97F4A7C15
	}
	return keys
}

// WriteIntegers builds a sharded set, or with shards 0 a file, and returns its path.
func WriteIntegers(tb testing.TB, spec string, shards int, keys []uint64) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), fmt.Sprintf("%d", shards))
	build := func(path string, hs []filter.Hash) *bloomery.Set {
		b, err := bloomery.NewBuilder(tb.Context(), bloomery.Config{Spec: spec, Keys: uint64(len(hs))})
		if err != nil {
			tb.Fatal(err)
		}
		if err := b.AddHashes(hs); err != nil {
			tb.Fatal(err)
		}
		set, err := b.Build(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		if err := set.Save(tb.Context(), path); err != nil {
			tb.Fatal(err)
		}
		return set
	}
	hs := make([]filter.Hash, len(keys))
	hasher := filter.NewHasher(0)
	hasher.SumUint64s(hs, keys)
	if shards == 0 {
		build(path, hs)
		return path
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		tb.Fatal(err)
	}
	parts := make([][]filter.Hash, shards)
	for _, h := range hs {
		s := shard.Route(h, shards)
		parts[s] = append(parts[s], h)
	}
	m := &shard.Manifest{Hash: filter.XXH3}
	for i, part := range parts {
		name := shardset.Name(i, shards, "")
		set := build(filepath.Join(path, name), part)
		entry := EntryOf(tb, filepath.Join(path, name), set)
		m.Shards = append(m.Shards, entry)
		m.Spec, _ = filter.ParseSpec(spec)
	}
	WriteManifest(tb, path, m)
	return path
}

// OpenSet opens a Set until the end of a test.
func OpenSet(tb testing.TB, path string) *bloomery.Set {
	tb.Helper()
	set, err := bloomery.Open(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = set.Close() })
	return set
}

// AsKeys returns names as keys.
func AsKeys(names []string) [][]byte {
	keys := make([][]byte, len(names))
	for i, n := range names {
		keys[i] = []byte(n)
	}
	return keys
}

// WriteShards builds a sharded set in dir, one shard after the other, with the library alone.
func WriteShards(tb testing.TB, dir string, c bloomery.Config, shards int, keys []string) *shard.Manifest {
	tb.Helper()
	spec, err := filter.ParseSpec(c.Spec)
	if err != nil {
		tb.Fatal(err)
	}
	m := &shard.Manifest{Spec: spec, FPRChosen: c.FPRChosen}
	var hasher filter.Hasher
	builders := make([]*bloomery.Builder, shards)
	for i := range builders {
		if builders[i], err = bloomery.NewBuilder(tb.Context(), c); err != nil {
			tb.Fatal(err)
		}
		hasher = builders[i].Hasher()
	}
	for _, k := range keys {
		h := hasher.SumString(k)
		if err := builders[shard.Route(h, shards)].AddHashes([]filter.Hash{h}); err != nil {
			tb.Fatal(err)
		}
	}
	if m.Hash, m.Seed = hasher.ID(), hasher.Seed(); m.Hash == filter.SipHash {
		m.KeyCheck = hasher.KeyCheck()
	}
	for i, b := range builders {
		set, err := b.Build(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		name := shardset.Name(i, shards, "")
		if err := IntoSet(tb, set, filepath.Join(dir, name)); err != nil {
			tb.Fatal(err)
		}
		m.Shards = append(m.Shards, EntryOf(tb, filepath.Join(dir, name), set))
	}
	WriteManifest(tb, dir, m)
	return m
}

// EntryOf returns the entry of a shard that was saved to a file.
func EntryOf(tb testing.TB, path string, set *bloomery.Set) shard.Entry {
	tb.Helper()
	info, data := set.Info(), ReadAll(tb, path)
	return shard.Entry{
		File: filepath.Base(path), Keys: info.Keys, Bytes: uint64(len(data)), SHA256: sha256.Sum256(data),
		FPRPrior: shardset.Rate(info.FPRPrior), FPRPosterior: shardset.Rate(info.FPRPosterior),
	}
}

// WriteManifest writes the manifest of a sharded set.
func WriteManifest(tb testing.TB, dir string, m *shard.Manifest) {
	tb.Helper()
	err := container.WriteAtomic(tb.Context(), filepath.Join(dir, shard.ManifestName), func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// ReadAll returns the contents of a file.
func ReadAll(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// Names returns n keys that begin with a prefix.
func Names(prefix string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return keys
}

// IntoSet replaces a file of a sharded set, which Save refuses.
func IntoSet(tb testing.TB, set *bloomery.Set, path string) error {
	outside := filepath.Join(tb.TempDir(), "shard")
	return errors.Join(set.Save(tb.Context(), outside), os.Rename(outside, path))
}

// ShardBuilder is a bloomery.Builder of a sharded set whose Build returns the manifest.
type ShardBuilder struct{ *bloomery.Builder }

// NewShardBuilder returns a ShardBuilder of the set in a folder.
func NewShardBuilder(dir string, c bloomery.Config) (*ShardBuilder, error) {
	c.Dir = dir
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
	c.Dir = dir
	return manifestOf(bloomery.Build(ctx, keys, c))
}

func manifestOf(s *bloomery.Set, err error) (*shard.Manifest, error) {
	if err != nil {
		return nil, err
	}
	return s.Manifest(), errors.Join(s.Err(), s.Close())
}
