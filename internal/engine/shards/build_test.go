package shards_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// TestShardedBuild builds a set with little memory, so that most hashes go to a file, and with much memory. The bytes
// must be the same, each shard must equal the result of Build for its keys, and the manifest must describe it.
func TestShardedBuild(t *testing.T) {
	keys := settest.Words(150_000)
	const shards = 3
	c := bloomery.Config{Spec: "blocked", Hashing: bloomery.Hashing{Seed: 3}, Sharding: bloomery.Sharding{Shards: shards}}
	var first map[string]string
	for _, memory := range []int64{0, 1, 3 << 20} {
		dir, temp := filepath.Join(t.TempDir(), "set"), t.TempDir()
		c.Building.Memory, c.Building.TempDir = memory, temp
		shares := 0.0
		c.Building.Progress = func(p filter.Progress) { shares = p.Done }
		m, err := settest.BuildShards(t.Context(), slices.Values(keys), dir, c)
		check(t, err)
		if shares < 0.999 || len(settest.FilesOf(t, temp)) > 0 {
			t.Errorf("progress ends at %v; %d temporary files are left", shares, len(settest.FilesOf(t, temp)))
		}
		files := settest.FilesOf(t, dir)
		if first == nil {
			first = files
		} else if !maps.Equal(files, first) {
			t.Errorf("with %d bytes of memory the set has other bytes", memory)
		}
		if len(files) != shards+1 || m.Keys() != uint64(len(keys)) || len(m.Shards) != shards {
			t.Errorf("%d files, %d keys, %d shards", len(files), m.Keys(), len(m.Shards))
		}
		for s, e := range m.Shards {
			own := settest.OfShard(keys, filter.NewHasher(3), s, shards)
			one, err := bloomery.Build(t.Context(), slices.Values(own),
				bloomery.Config{Spec: c.Spec, Hashing: bloomery.Hashing{Seed: 3}})
			check(t, err)
			want, err := one.MarshalBinary()
			check(t, err)
			if files[e.File] != string(want) || sha256.Sum256(want) != e.SHA256 || uint64(len(want)) != e.Bytes ||
				e.Keys != uint64(len(own)) || e.FPRPosterior != shardset.Rate(one.Info().FPRPosterior) {
				t.Errorf("shard %d is not the filter of its keys, or the manifest is wrong: %+v", s, e)
			}
		}
	}
}

// TestShardedBuilderAdds checks that all methods that add keys, called from many goroutines, give the same set.
func TestShardedBuilderAdds(t *testing.T) {
	keys := settest.Words(20_000)
	c := bloomery.Config{Spec: "blocked", Sharding: bloomery.Sharding{Shards: 3}}
	dirs := []string{t.TempDir(), t.TempDir()}
	if _, err := settest.BuildShards(t.Context(), slices.Values(keys), dirs[0], c); err != nil {
		t.Fatal(err)
	}
	b, err := settest.NewShardBuilder(dirs[1], c)
	check(t, err)
	defer b.Close()
	var wg sync.WaitGroup
	for part := range slices.Chunk(keys, 4000) {
		wg.Go(func() {
			for i, k := range part[:3000] {
				add := []func() error{
					func() error { return b.Add([]byte(k)) }, func() error { return b.AddString(k) },
					func() error { return b.AddHashes([]filter.Hash{b.Hasher().SumString(k)}) },
					func() error { return b.AddMany([][]byte{[]byte(k)}) },
				}
				if err := add[i%len(add)](); err != nil {
					t.Error(err)
				}
			}
			var hs []filter.Hash
			for _, k := range part[3000:] {
				hs = append(hs, b.Hasher().SumString(k))
			}
			if err := b.AddHashes(hs); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := b.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(settest.FilesOf(t, dirs[0]), settest.FilesOf(t, dirs[1])) {
		t.Error("the sets differ")
	}
	if _, err := b.Build(t.Context()); err == nil {
		t.Error("a second Build")
	}
}

// TestShardSizes checks that sizes in the Config are for the whole set.
func TestShardSizes(t *testing.T) {
	keys := settest.Words(40_000)
	for _, tt := range []struct {
		c    bloomery.Config
		spec string
	}{
		{bloomery.Config{Spec: "standard(bytes=64000)", Sharding: bloomery.Sharding{Shards: 4}}, "standard(bytes=16000)"},
		{bloomery.Config{Spec: "rankindexed(capacity=40000)", Sharding: bloomery.Sharding{Shards: 4}},
			"rankindexed(capacity=10600)"},
		{bloomery.Config{Spec: "standard(fpr=0.01,capacity=40000)", Capacity: 40_000, Sharding: bloomery.Sharding{Shards: 1}},
			"standard(capacity=40000,fpr=0.01)"},
		{bloomery.Config{Needs: plan.Needs{FPR: 0.01}}, "ribbon(fpr=0.01)"},
		{bloomery.Config{Needs: plan.Needs{FPR: 0.01, Remove: true}, Capacity: 50_000,
			Sharding: bloomery.Sharding{Shards: 4}}, ""},
		{bloomery.Config{Spec: "fuse(fpr=0.01)", Keys: 40_000, Limits: bloomery.Limits{FPR: 0.011}}, "fuse(fpr=0.01)"},
	} {
		m, err := settest.BuildShards(t.Context(), slices.Values(keys), t.TempDir(), tt.c)
		if err != nil {
			t.Errorf("%+v: %v", tt.c, err)
			continue
		}
		if tt.spec != "" && m.Spec.String() != tt.spec {
			t.Errorf("%+v: shards of %s, want %s", tt.c, m.Spec, tt.spec)
		}
		if want := max(tt.c.Sharding.Shards, 1); len(m.Shards) != want || m.Keys() != 40_000 {
			t.Errorf("%+v: %d shards, %d keys", tt.c, len(m.Shards), m.Keys())
		}
	}
	for n, want := range map[uint64]int{0: 1, 1: 1, 1 << 22: 1, 1<<22 + 1: 2, 50_000_000: 12, 1 << 62: shard.Max} {
		if got := hashes.AutoShards(n); got != want {
			t.Errorf("AutoShards(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestShardErrors checks that a failed build leaves the folder unchanged.
func TestShardErrors(t *testing.T) {
	keys := settest.Words(5000)
	for _, tt := range []struct {
		c    bloomery.Config
		want error
	}{
		{bloomery.Config{Spec: "bitsandblooms", Sharding: bloomery.Sharding{Shards: 2}}, filter.ErrUnsupported},
		{bloomery.Config{Spec: "partitioned(budget=1s)", Sharding: bloomery.Sharding{Shards: 2}}, filter.ErrConfig},
		{bloomery.Config{Spec: "blocked(blocks=100)", Sharding: bloomery.Sharding{Shards: 2}}, filter.ErrConfig},
		{bloomery.Config{Spec: "blocked", Sharding: bloomery.Sharding{Shards: -1}}, filter.ErrConfig},
		{bloomery.Config{Spec: "blocked", Sharding: bloomery.Sharding{Shards: 2}, Concurrent: true}, filter.ErrConfig},
		{bloomery.Config{Spec: "blocked", Sharding: bloomery.Sharding{Shards: 2}, Keys: 4999}, filter.ErrKeys},
		{bloomery.Config{Spec: "redisbloom(capacity=1000,expansion=0)", Sharding: bloomery.Sharding{Shards: 2}},
			filter.ErrFull},
		{bloomery.Config{Spec: "standard(bits_per_key=4)", Sharding: bloomery.Sharding{Shards: 2},
			Limits: bloomery.Limits{FPR: 0.01}}, filter.ErrRate},
		{bloomery.Config{Spec: "standard(capacity=4000)", Sharding: bloomery.Sharding{Shards: 2}, Capacity: 4000},
			filter.ErrFull},
	} {
		dir := filepath.Join(t.TempDir(), "set")
		_, err := settest.BuildShards(t.Context(), slices.Values(keys), dir, tt.c)
		if !errors.Is(err, tt.want) {
			t.Errorf("%+v: error %v, want %v", tt.c, err, tt.want)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%+v: the folder is left", tt.c)
		}
	}
}

// TestShardFolder builds into folders that are not empty.
func TestShardFolder(t *testing.T) {
	keys := settest.Words(5000)
	dir := t.TempDir()
	build := func(ctx context.Context, c bloomery.Config, keys []string) error {
		_, err := settest.BuildShards(ctx, slices.Values(keys), dir, c)
		return err
	}
	c := bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 3}}
	other := filepath.Join(dir, "letter.txt")
	check(t, os.WriteFile(other, []byte("dear"), 0o600))
	if err := build(t.Context(), c, keys); err == nil || len(settest.FilesOf(t, dir)) != 1 {
		t.Errorf("error %v for a folder with a letter", err)
	}
	check(t, os.Rename(other, filepath.Join(dir, "00007-of-00009.bloom")))
	if err := build(t.Context(), c, keys); err != nil || len(settest.FilesOf(t, dir)) != 4 {
		t.Errorf("error %v for a folder with a shard of a killed build: %d files", err, len(settest.FilesOf(t, dir)))
	}
	old := settest.FilesOf(t, dir)
	if err := build(t.Context(), c, keys); err != nil || !maps.Equal(settest.FilesOf(t, dir), old) {
		t.Errorf("the same keys again: error %v, or other files", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	c.Building.Progress = func(filter.Progress) { cancel() }
	if err := build(ctx, c, keys[:4000]); !errors.Is(err, context.Canceled) || !maps.Equal(settest.FilesOf(t, dir), old) {
		t.Errorf("interrupted: error %v, or other files", err)
	}
	c.Building.Progress, c.Limits.FPR = nil, 1e-9
	if err := build(t.Context(), c, keys[:4000]); !errors.Is(err, filter.ErrRate) || !maps.Equal(settest.FilesOf(t, dir),
		old) {
		t.Errorf("rate: error %v, or other files", err)
	}
	c.Limits.FPR = 0
	one := slices.IndexFunc(keys, func(k string) bool { return shard.Route(filter.NewHasher(0).SumString(k), 3) == 1 })
	check(t, build(t.Context(), c, slices.Delete(slices.Clone(keys), one, one+1)))
	now := settest.FilesOf(t, dir)
	first, second := shardset.Name(0, 3, ""), shardset.Name(1, 3, "")
	if len(now) != 4 || now[first] != old[first] || now[second] != "" {
		t.Errorf("a set with another key in shard 1 has the files %q", slices.Sorted(maps.Keys(now)))
	}

	b, err := settest.NewShardBuilder(dir, c)
	check(t, err)
	if hasLocks {
		if err := build(t.Context(), c, keys); !errors.Is(err, filter.ErrLocked) || !maps.Equal(settest.FilesOf(t, dir),
			now) {
			t.Errorf("error %v while another builder has the folder", err)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := b.AddMany(nil); err == nil {
		t.Error("AddMany after Close")
	}
	for i := range 4 {
		c.Sharding.Shards = i + 1
		if err := build(t.Context(), c, keys); err != nil || len(settest.FilesOf(t, dir)) != i+2 {
			t.Errorf("%d shards: %v, %s", i+1, err, fmt.Sprint(slices.Sorted(maps.Keys(settest.FilesOf(t, dir)))))
		}
	}
}

// replaced is a context that ends when a file has another content than text.
type replaced struct {
	context.Context
	path, text string
}

func (c replaced) Err() error {
	if b, err := os.ReadFile(c.path); err == nil && string(b) != c.text {
		return context.Canceled
	}
	return nil
}

// TestEndAfterCommit checks that once the manifest is replaced, Build returns the set even if its context ends. An
// error must mean that the folder is unchanged.
func TestEndAfterCommit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	c := bloomery.Config{Sharding: bloomery.Sharding{Dir: dir, Shards: 3}}
	check(t, settest.Build(t, settest.Words(1000), c).Close())
	path := filepath.Join(dir, "manifest.json")
	ctx := replaced{context.Background(), path, string(settest.ReadAll(t, path))}
	all := settest.Words(2000)
	s, err := bloomery.Build(ctx, slices.Values(all), c)
	check(t, err)
	defer s.Close()
	if ctx.Err() == nil {
		t.Fatal("the set was not replaced")
	}
	for _, w := range all {
		if !s.ContainsString(w) {
			t.Fatalf("%s is missing", w)
		}
	}
}

// TestOptimizeSmallShards checks that the loss of an optimized set is the loss of all shards together. Some small
// shards lose most of their keys by chance.
func TestOptimizeSmallShards(t *testing.T) {
	dir, keys := t.TempDir(), settest.Names("member", 600)
	writeShards(t, dir, bloomery.Config{Spec: "partitioned(bits_per_key=16)"}, 128, keys)
	set, err := bloomery.Open(t.Context(), dir)
	check(t, err)
	defer set.Close()
	optimize := func(keys []string) error {
		b, err := set.Optimizer(bloomery.JobConfig{})
		check(t, err)
		defer b.Close()
		check(t, b.AddMany(settest.AsKeys(keys)))
		_, err = b.Commit(t.Context())
		return err
	}
	if err := optimize(keys[:540]); err != nil {
		t.Errorf("10%% are lost: %v", err)
	}
	if err := optimize(keys[:200]); !errors.Is(err, filter.ErrShrunk) {
		t.Errorf("two thirds are lost: %v", err)
	}
}

// TestMaxBytesLikeShards checks that MaxBytes limits all shards together, with and without Like.
func TestMaxBytesLikeShards(t *testing.T) {
	dir := t.TempDir()
	writeShards(t, dir, bloomery.Config{Spec: "blocked(bytes=4096)"}, 16, settest.Names("member", 1000))
	old, err := bloomery.Open(t.Context(), dir)
	check(t, err)
	defer old.Close()
	for limit, want := range map[uint64]error{16 * 4096: nil, 20_000: filter.ErrTooLarge} {
		b, err := settest.NewShardBuilder(t.TempDir(),
			bloomery.Config{Like: bloomery.Like{Set: old}, Limits: bloomery.Limits{Bytes: limit}})
		if !errors.Is(err, want) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if err == nil {
			_ = b.Close()
		}
	}
}

// TestStrayShard checks that a file with a name like a shard is not written into the folder of a set, because the next
// writer of the set would remove it.
func TestStrayShard(t *testing.T) {
	dir := t.TempDir()
	writeShards(t, dir, bloomery.Config{Spec: "blocked(bytes=4096)"}, 2, settest.Names("member", 100))
	one := settest.Build(t, settest.Names("member", 10), bloomery.Config{Spec: "blocked(bytes=4096)"})
	for _, name := range []string{"00000-of-00002.bloom", "00001-of-00003.bloom"} {
		if err := one.Save(t.Context(), filepath.Join(dir, name)); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := one.Save(t.Context(), filepath.Join(dir, "mine.bloom")); err != nil {
		t.Error(err)
	}
}
