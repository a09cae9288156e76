package settest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/shard"
)

var dedupKeys = flag.Uint64("dedup", 50_000, "keys of TestDedup")

// TestDedup adds the same new keys from four goroutines, each in another order. Each key must be reported as new to at
// most one goroutine, and the number of keys that are new to none must agree with the false-positive rate.
func TestDedup(t *testing.T) {
	n := *dedupKeys
	for _, name := range families.With(family.CanConcurrent) {
		set := settest.Must(bloomery.New(bloomery.Config{Spec: name + "(fpr=0.01)", Keys: n, Concurrent: true}))
		fresh := make([]atomic.Uint32, n)
		var all sync.WaitGroup
		for worker := range uint64(4) {
			all.Go(func() {
				for i := range n {
					key := i
					if worker%2 == 1 {
						key = n - 1 - i
					}
					present, err := bloomery.Keyed[uint64](set).TestAndAdd(key)
					if err != nil {
						t.Errorf("%s: key %d: %v", name, key, err)
						return
					}
					if !present {
						fresh[key].Add(1)
					}
				}
			})
		}
		all.Wait()
		var twice, nobody uint64
		for i := range fresh {
			switch count := fresh[i].Load(); {
			case count == 0:
				nobody++
			case count > 1:
				twice++
			}
			if !bloomery.Keyed[uint64](set).Contains(uint64(i)) {
				t.Fatalf("%s: key %d is lost", name, i)
			}
		}
		rate := set.Info().FPRPosterior // the rate after the last key; it was lower before
		if tail := stat.UpperTail(nobody, n, rate); twice > 0 || tail < 1e-6 {
			t.Errorf("%s: %d keys are new twice, %d to nobody: the rate of %.3g allows that with probability %.2g", name,
				twice, nobody, rate, tail)
		}
		if keys := set.Len(); keys != n-nobody {
			t.Errorf("%s: %d keys were added, Len %d", name, n-nobody, keys)
		}
		t.Logf("%s: %d keys, 0 new twice, %d new to nobody, rate %.4g", name, n, nobody, rate)
	}
}

// TestNoKeys checks that Sets without keys answer no to single queries and to batches: in memory, from a file, with
// exceptions, and in folders in which all shards, or all but one, are empty.
func TestNoKeys(t *testing.T) {
	const asked = 100_000
	keys, found := make([]uint64, asked), make([]bool, asked)
	for i := range keys {
		keys[i] = uint64(i)
	}
	none := func(t *testing.T, what string, s *bloomery.Set, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		defer s.Close()
		k := bloomery.Keyed[uint64](s)
		k.ContainsMany(found, keys)
		wrong := 0
		for i, key := range keys {
			if found[i] || k.Contains(key) {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%s, %v: %d of %d keys are present", what, s, wrong, asked)
		}
	}
	for _, f := range families.All() {
		t.Run(f.Name, func(t *testing.T) {
			ctx := t.Context()
			c := bloomery.Config{Spec: f.Name}
			set, err := bloomery.Build(ctx, slices.Values[[]uint64](nil), c)
			settest.Check(t, err)
			path := filepath.Join(t.TempDir(), "empty.bloom")
			settest.Check(t, set.Save(ctx, path))
			none(t, "built", set, nil)
			set, err = bloomery.Open(ctx, path)
			none(t, "opened", set, err)
			set, err = bloomery.Open(ctx, path, bloomery.InMemory())
			none(t, "read", set, err)
			if f.Foreign() || f.Can.Has(family.CanRawKeys) {
				return
			}
			c.Allow = slices.Values([][]byte{[]byte("a")})
			set, err = bloomery.Build(ctx, slices.Values[[]uint64](nil), c)
			none(t, "with exceptions", set, err)
			c.Allow, c.Sharding.Shards = nil, 4
			c.Sharding.Dir = t.TempDir()
			set, err = bloomery.Build(ctx, slices.Values[[]uint64](nil), c)
			none(t, "sharded", set, err)

			c.Sharding.Dir = t.TempDir()
			set = settest.Must(bloomery.Build(ctx, slices.Values([]uint64{0}), c))
			defer set.Close()
			k, home := bloomery.Keyed[uint64](set), shard.Route(set.Hasher().SumUint64(0), c.Sharding.Shards)
			k.ContainsMany(found, keys)
			for i, key := range keys {
				if (found[i] || k.Contains(key)) && shard.Route(set.Hasher().SumUint64(key), c.Sharding.Shards) != home {
					t.Fatalf("%d is present in an empty shard", key)
				}
			}
		})
	}
}

// TestRawKeysMemory checks that a builder that needs raw keys and must count them first stays within Memory by writing
// them to a file in TempDir, and builds the same filter.
func TestRawKeysMemory(t *testing.T) {
	build := func(memory int64) (*bloomery.Set, uint64) {
		dir := t.TempDir()
		c := bloomery.Config{Spec: "bitsandblooms", Building: bloomery.Building{Memory: memory, TempDir: dir}}
		b := settest.Must(bloomery.NewBuilder(t.Context(), c))
		defer b.Close()
		key := make([]byte, 0, 100)
		for i := range 300_000 {
			settest.Check(t, b.Add(fmt.Appendf(key, "a key of forty to fifty bytes, number %d", i)))
		}
		runtime.GC()
		runtime.GC() // also frees the blocks of earlier builds
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		set := settest.Must(b.Build(t.Context()))
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%d files left", len(left))
		}
		return set, m.HeapAlloc
	}
	large, all := build(1 << 30)
	small, few := build(1 << 20)
	if !large.Equal(small) {
		t.Error("the filters differ")
	}
	if all < few+8<<20 {
		t.Errorf("%d bytes in use with a limit of 1 MiB, %d without", few, all)
	}
}
