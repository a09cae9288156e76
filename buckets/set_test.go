package buckets_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/docs"
	"github.com/bloomery/bloomery/shard"
)

const keys = 40_000

// caches returns the options of a cache in memory and of a cache in a folder, each limited to the given number of
// bytes.
func caches(t *testing.T, bytes int64) map[string]buckets.Options {
	return map[string]buckets.Options{
		"memory": {CacheBytes: bytes},
		"folder": {CacheBytes: bytes, CacheDir: filepath.Join(t.TempDir(), "cache")},
	}
}

func openSet(t *testing.T, s buckets.Store, o buckets.Options) *buckets.Set {
	t.Helper()
	set, err := buckets.OpenSet(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = set.Close() })
	return set
}

// TestSet compares all answers with the answers of the local folder, with a cache for all shards and with a cache for
// three.
func TestSet(t *testing.T) {
	secret := filter.NewSecret()
	for _, c := range []bloomery.Config{
		{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 16}, Hashing: bloomery.Hashing{Seed: 7}},
		{Spec: "fuse(width=8)", Sharding: bloomery.Sharding{Shards: 16}, Hashing: bloomery.Hashing{Secret: secret}},
		{Spec: "ribbon(fpr=0.003)", Sharding: bloomery.Sharding{Shards: 16}},
		{Spec: "standard(bits_per_key=8)", Sharding: bloomery.Sharding{Shards: 1}},
	} {
		dir, local := storetest.Build(t, keys, c)
		m := local.Manifest()
		for name, o := range caches(t, int64(m.Bytes())/int64(c.Sharding.Shards)*3+3000) {
			o.Secret = c.Hashing.Secret
			s, err := buckets.Open(t.Context(), "file:///"+strings.TrimPrefix(filepath.ToSlash(dir), "/"), o)
			if err != nil {
				t.Fatal(err)
			}
			if n := storetest.Compare(t, s, local, keys-500, 1000, 1); n != 0 || s.Err() != nil {
				t.Errorf("%s, %s: %d answers unknown: %v", c.Spec, name, n, s.Err())
			}
			st := s.Stats()
			if st.CacheBytes > o.CacheBytes || st.Hits == 0 || (st.Evictions == 0) != (c.Sharding.Shards == 1) ||
				st.Bytes == 0 || st.Fetches != st.Misses {
				t.Errorf("%s, %s: %+v", c.Spec, name, st)
			}
			want, got := local.Info(), s.Info()
			if got.Keys != want.Keys || got.FPRPrior != want.FPRPrior || got.FPRPosterior != want.FPRPosterior ||
				got.FPRPlanned != want.FPRPlanned || s.Len() != keys {
				t.Errorf("%s: %+v, want %+v", c.Spec, got, want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if yes, err := s.ContainsContext(t.Context(), storetest.Key(keys+1)); !yes || !errors.Is(err, buckets.ErrClosed) {
				t.Errorf("after Close: %v, %v", yes, err)
			}
		}
	}
}

// TestFaults queries from many goroutines with a cache for three shards, while a third of the reads fail or return
// damaged data.
func TestFaults(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 16}})
	bytes := int64(local.Manifest().Bytes()) / 16 * 3
	for name, o := range caches(t, bytes+3000) {
		t.Run(name, func(t *testing.T) {
			f := &storetest.Faulty{Store: buckets.Folder(dir), Refuse: 0.1, Cut: 0.15, Flip: 0.1, Slow: 0.1}
			f.Off.Store(true)
			s := openSet(t, f, o)
			f.Off.Store(false)
			defer watch(t, s, o.CacheBytes)()
			unknown := storetest.Compare(t, s, local, keys-3000, 6000, 16)
			st := s.Stats()
			if unknown == 0 || s.Err() == nil || st.Evictions < 10 || st.Failures == 0 || st.CacheBytes > o.CacheBytes {
				t.Errorf("%d unknown, %v, %+v: no faults?", unknown, s.Err(), st)
			}
			f.Off.Store(true)
			if n := storetest.Compare(t, s, local, keys-500, 1000, 4); n != 0 {
				t.Errorf("%d unknown after the faults: %v", n, s.Err())
			}
		})
	}
}

// TestMapped queries four shards that are large enough to be mapped, with room for two. It checks that no shard is
// unmapped while it is read.
func TestMapped(t *testing.T) {
	const n = 3_800_000
	dir, local := storetest.Build(t, n, bloomery.Config{Spec: "blocked(bits_per_key=10)",
		Sharding: bloomery.Sharding{Shards: 4}})
	if local.Manifest().Shards[0].Bytes < 1<<20 {
		t.Fatal("the shards are too small")
	}
	o := buckets.Options{CacheDir: t.TempDir(), CacheBytes: 2_500_000}
	s := openSet(t, buckets.Folder(dir), o)
	defer watch(t, s, o.CacheBytes)()
	if unknown := storetest.Compare(t, s, local, n-700, 1400, 8); unknown != 0 || s.Err() != nil {
		t.Errorf("%d unknown: %v", unknown, s.Err())
	}
	if st := s.Stats(); st.Evictions < 20 {
		t.Errorf("%+v", st)
	}
}

// watch checks that the cache does not exceed limit until stop is called.
func watch(t *testing.T, s *buckets.Set, limit int64) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for most := limit; ; time.Sleep(100 * time.Microsecond) {
			if n := s.Stats().CacheBytes; n > most {
				t.Errorf("the cache has %d bytes, over its limit of %d", n, limit)
				most = n
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// TestExceptions opens a set whose shard has exceptions for absent keys: with whole shards they must be absent, and
// block reads must refuse the set.
func TestExceptions(t *testing.T) {
	dir, local := storetest.Build(t, 1000, bloomery.Config{Spec: "blocked(fpr=0.1)",
		Sharding: bloomery.Sharding{Shards: 1}})
	m := *local.Manifest()
	path := filepath.Join(dir, m.Shards[0].File)
	one, err := bloomery.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := one.Allower(bloomery.JobConfig{})
	if err != nil {
		t.Fatal(err)
	}
	keys := func(from, to uint64) (all [][]byte) {
		for i := from; i < to; i++ {
			all = append(all, []byte(storetest.Key(i)))
		}
		return all
	}
	if err := errors.Join(a.AllowMany(keys(5000, 9000)), a.AddMembers(keys(0, 1000)), a.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	file, err := one.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	// Save does not change files of sharded sets, and the Set has mapped the file, so replace it.
	if err := errors.Join(os.Remove(path), os.WriteFile(path, file, 0o600)); err != nil {
		t.Fatal(err)
	}
	m.Shards = append([]shard.Entry(nil), m.Shards...)
	m.Shards[0].Bytes, m.Shards[0].SHA256 = uint64(len(file)), sha256.Sum256(file)
	var manifest bytes.Buffer
	if _, err := m.WriteTo(&manifest); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, shard.ManifestName), manifest.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openSet(t, buckets.Folder(dir), buckets.Options{})
	for i, key := range append(keys(0, 1000), keys(5000, 9000)...) {
		if has, err := s.ContainsContext(t.Context(), key); err != nil || has != (i < 1000) {
			t.Fatalf("%s is present: %t, %v", key, has, err)
		}
	}
	blocks, err := buckets.OpenSet(t.Context(), buckets.Folder(dir), buckets.Options{Blocks: true})
	if err == nil {
		defer blocks.Close()
		var has bool
		if has, err = blocks.ContainsContext(t.Context(), keys(5000, 5001)[0]); !has {
			t.Error("a key of a shard that cannot be read is absent")
		}
	}
	if !errors.Is(err, filter.ErrUnsupported) {
		t.Errorf("blocks: %v", err)
	}
}

// TestReadme compiles the examples of README.md.
func TestReadme(t *testing.T) {
	const module = "github.com/bloomery/bloomery/"
	n := docs.CompileExamples(t, ".", []string{"README.md"}, `
var (
	ctx = context.Background()
	key []byte
	pin publish.PublicKey
)
`, map[string]string{
		"context": "context", "buckets": module + "buckets", "publish": module + "publish",
	})
	if n != 2 {
		t.Errorf("%d examples", n)
	}
}

// BenchmarkHas compares queries of keys whose shards or blocks are in the cache with queries of the local set.
func BenchmarkHas(b *testing.B) {
	dir, local := storetest.Build(b, 100_000, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 16}})
	hs := make([]filter.Hash, 4096)
	for i := range hs {
		hs[i] = local.Hasher().SumUint64(uint64(i) + 98_000)
	}
	dst := make([]bool, len(hs))
	type asked interface {
		ContainsHash(filter.Hash) bool
		ContainsHashes([]bool, []filter.Hash)
	}
	sets := map[string]asked{"local": local}
	for name, o := range map[string]buckets.Options{
		"memory": {}, "folder": {CacheDir: b.TempDir()}, "blocks": {Blocks: true},
	} {
		s, err := buckets.OpenSet(b.Context(), buckets.Folder(dir), o)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		s.ContainsHashes(dst, hs)
		sets[name] = s
	}
	for name, s := range sets {
		b.Run("op=has/cache="+name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.ContainsHash(hs[i%len(hs)])
			}
		})
		b.Run("op=hasmany/cache="+name, func(b *testing.B) {
			for b.Loop() {
				s.ContainsHashes(dst, hs)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(hs)), "ns/key")
		})
	}
}
