package bloomery_test

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
	"github.com/bloomery/bloomery/internal/shardfile"
	"github.com/bloomery/bloomery/internal/shardtest"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// filesOf returns the files of a folder by name.
func filesOf(t *testing.T, dir string) map[string]string {
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

// ofShard returns the keys of a shard.
func ofShard(keys []string, h filter.Hasher, s, shards int) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return shard.Route(h.SumString(k), shards) != s })
}

// TestShardedBuild builds a set with little memory, so that most hashes go to a file, and with much: the same bytes.
// Each shard is what Build makes of its keys, and the manifest describes it.
func TestShardedBuild(t *testing.T) {
	keys := words(150_000)
	const shards = 3
	c := bloomery.Config{Spec: "blocked", Seed: 3, Shards: shards}
	var first map[string]string
	for _, memory := range []int64{0, 1, 3 << 20} {
		dir, temp := filepath.Join(t.TempDir(), "set"), t.TempDir()
		c.Memory, c.TempDir = memory, temp
		shares := 0.0
		c.Progress = func(p filter.Progress) { shares = p.Done }
		m, err := shardtest.Build(t.Context(), slices.Values(keys), dir, c)
		if err != nil {
			t.Fatal(err)
		}
		if shares < 0.999 || len(filesOf(t, temp)) > 0 {
			t.Errorf("progress ends at %v; %d temporary files are left", shares, len(filesOf(t, temp)))
		}
		files := filesOf(t, dir)
		if first == nil {
			first = files
		} else if !maps.Equal(files, first) {
			t.Errorf("with %d bytes of memory the set has other bytes", memory)
		}
		if len(files) != shards+1 || m.Keys() != uint64(len(keys)) || len(m.Shards) != shards {
			t.Errorf("%d files, %d keys, %d shards", len(files), m.Keys(), len(m.Shards))
		}
		for s, e := range m.Shards {
			own := ofShard(keys, filter.NewHasher(3), s, shards)
			one, err := bloomery.Build(t.Context(), slices.Values(own), bloomery.Config{Spec: c.Spec, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			want, err := one.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if files[e.File] != string(want) || sha256.Sum256(want) != e.SHA256 || uint64(len(want)) != e.Bytes ||
				e.Keys != uint64(len(own)) || e.FPRPosterior != shardfile.Rate(one.Info().FPRPosterior) {
				t.Errorf("shard %d is not the filter of its keys, or the manifest is wrong: %+v", s, e)
			}
		}
	}
}

// TestShardedBuilderAdds: all ways of adding keys, from many goroutines, give the same set.
func TestShardedBuilderAdds(t *testing.T) {
	keys := words(20_000)
	c := bloomery.Config{Spec: "blocked", Shards: 3}
	dirs := []string{t.TempDir(), t.TempDir()}
	if _, err := shardtest.Build(t.Context(), slices.Values(keys), dirs[0], c); err != nil {
		t.Fatal(err)
	}
	b, err := shardtest.NewBuilder(dirs[1], c)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var wg sync.WaitGroup
	for part := range slices.Chunk(keys, 4000) {
		wg.Go(func() {
			for i, k := range part[:3000] {
				add := []func() error{
					func() error { return b.Add([]byte(k)) }, func() error { return b.AddString(k) },
					func() error { return b.AddHash(b.Hasher().SumString(k)) },
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
	if !maps.Equal(filesOf(t, dirs[0]), filesOf(t, dirs[1])) {
		t.Error("the sets differ")
	}
	if _, err := b.Build(t.Context()); err == nil {
		t.Error("a second Build")
	}
}

// TestShardSizes: sizes in the Config are those of the set.
func TestShardSizes(t *testing.T) {
	keys := words(40_000)
	for _, tt := range []struct {
		c    bloomery.Config
		spec string
	}{
		{bloomery.Config{Spec: "standard(bytes=64000)", Shards: 4}, "standard(bytes=16000)"},
		{bloomery.Config{Spec: "rankindexed(capacity=40000)", Shards: 4}, "rankindexed(capacity=10600)"},
		{bloomery.Config{Spec: "standard(fpr=0.01,capacity=40000)", Capacity: 40_000, Shards: 1},
			"standard(capacity=40000,fpr=0.01)"},
		{bloomery.Config{Needs: plan.Needs{FPR: 0.01}}, "ribbon(fpr=0.01)"},
		{bloomery.Config{Needs: plan.Needs{FPR: 0.01, Remove: true}, Capacity: 50_000, Shards: 4}, ""},
		{bloomery.Config{Spec: "fuse(fpr=0.01)", Keys: 40_000, MaxFPR: 0.011}, "fuse(fpr=0.01)"},
	} {
		m, err := shardtest.Build(t.Context(), slices.Values(keys), t.TempDir(), tt.c)
		if err != nil {
			t.Errorf("%+v: %v", tt.c, err)
			continue
		}
		if tt.spec != "" && m.Spec.String() != tt.spec {
			t.Errorf("%+v: shards of %s, want %s", tt.c, m.Spec, tt.spec)
		}
		if want := max(tt.c.Shards, 1); len(m.Shards) != want || m.Keys() != 40_000 {
			t.Errorf("%+v: %d shards, %d keys", tt.c, len(m.Shards), m.Keys())
		}
	}
	for n, want := range map[uint64]int{0: 1, 1: 1, 1 << 22: 1, 1<<22 + 1: 2, 50_000_000: 12, 1 << 62: shard.Max} {
		if got := hashes.AutoShards(n); got != want {
			t.Errorf("AutoShards(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestShardErrors: what cannot be built leaves the folder as it was.
func TestShardErrors(t *testing.T) {
	keys := words(5000)
	for _, tt := range []struct {
		c    bloomery.Config
		want error
	}{
		{bloomery.Config{Spec: "bitsandblooms", Shards: 2}, filter.ErrUnsupported},
		{bloomery.Config{Spec: "partitioned(budget=1s)", Shards: 2}, filter.ErrConfig},
		{bloomery.Config{Spec: "blocked(blocks=100)", Shards: 2}, filter.ErrConfig},
		{bloomery.Config{Spec: "blocked", Shards: -1}, filter.ErrConfig},
		{bloomery.Config{Spec: "blocked", Shards: 2, Concurrent: true}, filter.ErrConfig},
		{bloomery.Config{Spec: "blocked", Shards: 2, Keys: 4999}, filter.ErrKeys},
		{bloomery.Config{Spec: "redisbloom(capacity=1000,expansion=0)", Shards: 2}, filter.ErrFull},
		{bloomery.Config{Spec: "standard(bits_per_key=4)", Shards: 2, MaxFPR: 0.01}, filter.ErrRate},
		{bloomery.Config{Spec: "standard(capacity=4000)", Shards: 2, Capacity: 4000}, filter.ErrFull},
	} {
		dir := filepath.Join(t.TempDir(), "set")
		_, err := shardtest.Build(t.Context(), slices.Values(keys), dir, tt.c)
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
	keys := words(5000)
	dir := t.TempDir()
	build := func(ctx context.Context, c bloomery.Config, keys []string) error {
		_, err := shardtest.Build(ctx, slices.Values(keys), dir, c)
		return err
	}
	c := bloomery.Config{Spec: "standard", Shards: 3}
	other := filepath.Join(dir, "letter.txt")
	if err := os.WriteFile(other, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := build(t.Context(), c, keys); err == nil || len(filesOf(t, dir)) != 1 {
		t.Errorf("error %v for a folder with a letter", err)
	}
	if err := os.Rename(other, filepath.Join(dir, "00007-of-00009.bloom")); err != nil {
		t.Fatal(err)
	}
	if err := build(t.Context(), c, keys); err != nil || len(filesOf(t, dir)) != 4 {
		t.Errorf("error %v for a folder with a shard of a killed build: %d files", err, len(filesOf(t, dir)))
	}
	old := filesOf(t, dir)
	if err := build(t.Context(), c, keys); err != nil || !maps.Equal(filesOf(t, dir), old) {
		t.Errorf("the same keys again: error %v, or other files", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	c.Progress = func(filter.Progress) { cancel() }
	if err := build(ctx, c, keys[:4000]); !errors.Is(err, context.Canceled) || !maps.Equal(filesOf(t, dir), old) {
		t.Errorf("interrupted: error %v, or other files", err)
	}
	c.Progress, c.MaxFPR = nil, 1e-9
	if err := build(t.Context(), c, keys[:4000]); !errors.Is(err, filter.ErrRate) || !maps.Equal(filesOf(t, dir), old) {
		t.Errorf("rate: error %v, or other files", err)
	}
	c.MaxFPR = 0
	one := slices.IndexFunc(keys, func(k string) bool { return shard.Route(filter.NewHasher(0).SumString(k), 3) == 1 })
	if err := build(t.Context(), c, slices.Delete(slices.Clone(keys), one, one+1)); err != nil {
		t.Fatal(err)
	}
	now := filesOf(t, dir)
	first, second := shardfile.Name(0, 3, ""), shardfile.Name(1, 3, "")
	if len(now) != 4 || now[first] != old[first] || now[second] != "" {
		t.Errorf("a set with another key in shard 1 has the files %q", slices.Sorted(maps.Keys(now)))
	}

	b, err := shardtest.NewBuilder(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	if hasLocks {
		if err := build(t.Context(), c, keys); !errors.Is(err, filter.ErrLocked) || !maps.Equal(filesOf(t, dir), now) {
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
		c.Shards = i + 1
		if err := build(t.Context(), c, keys); err != nil || len(filesOf(t, dir)) != i+2 {
			t.Errorf("%d shards: %v, %s", i+1, err, fmt.Sprint(slices.Sorted(maps.Keys(filesOf(t, dir)))))
		}
	}
}
