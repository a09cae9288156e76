package shards_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// TestShardedBatches compares batches of all sizes with single queries: fewer keys than shards, few keys for each
// shard, many for each, more than are grouped at once. Shards are read, mapped, and not loaded at first.
func TestShardedBatches(t *testing.T) {
	for _, x := range []struct {
		name, spec string
		shards     int
	}{
		{"read", "blocked(bits_per_key=10)", 16},
		{"mapped", "standard(bytes=6000000)", 5},
		{"mapped blocks", "blocked(bytes=3600000,k=7)", 3},
		{"different k", "blocked(bytes=16000)", 16},
		{"split", "blocked(bits_per_key=10,layout=split)", 16},
		{"fuse", "fuse(width=8)", 16},
		{"ribbon", "ribbon(r=8)", 16},
		{"fuse of other widths", "fuse(width=11)", 16},
		{"without prefetching", "counting(bits_per_key=38)", 16},
		{"searched", "partitioned(bits_per_key=8,effort=fast)", 3},
	} {
		t.Run(x.name, func(t *testing.T) {
			keys := settest.Integers(30_000, 1)
			path := settest.WriteIntegers(t, x.spec, x.shards, keys)
			all := append(keys, settest.Integers(50_000, 2)...)
			want := make([]bool, len(all))
			single := settest.OpenSet(t, path)
			for i, k := range all {
				if want[i] = bloomery.Keyed[uint64](single).Contains(k); !want[i] && i < len(keys) {
					t.Fatalf("key %d is missing", k)
				}
			}
			for _, n := range []int{1, 3, 31, 32, 33, 65, 1000, 1 << 15, 1<<15 + 1, len(all)} {
				set := settest.OpenSet(t, path)
				got := make([]bool, n)
				for _, from := range []int{0, len(all) - n} { // the first time, shards are not loaded
					bloomery.Keyed[uint64](set).ContainsMany(got, all[from:from+n])
					for i := range got {
						if got[i] != want[from+i] {
							t.Fatalf("batch of %d: key %d of %d is %t", n, from+i, len(all), got[i])
						}
					}
				}
				if err := set.Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestShardedBatchesChange adds keys after batches, which copies mapped and read shards. Later batches must find the
// keys.
func TestShardedBatchesChange(t *testing.T) {
	for _, spec := range []string{"blocked(bytes=3600000,k=7)", "blocked(bits_per_key=10)", "standard(bits_per_key=10)"} {
		keys := settest.Integers(30_000, 1)
		set := settest.OpenSet(t, settest.WriteIntegers(t, spec, 3, keys))
		got := make([]bool, len(keys))
		bloomery.Keyed[uint64](set).ContainsMany(got, keys) // loads all shards
		further := settest.Integers(len(keys), 2)
		for _, k := range further {
			check(t, bloomery.Keyed[uint64](set).Add(k))
		}
		for _, part := range [][]uint64{keys, further} {
			bloomery.Keyed[uint64](set).ContainsMany(got, part)
			if i := slices.Index(got, false); i >= 0 {
				t.Errorf("%s: key %d is missing", spec, part[i])
			}
		}
	}
}

// TestShardedBatchesUnreadable truncates the file of a mapped shard in place. Batches must answer true for its keys,
// and Err must return the reason.
func TestShardedBatchesUnreadable(t *testing.T) {
	if !container.CanMap(1<<20) || runtime.GOOS == "windows" {
		t.Skip("needs mapped files that can be truncated")
	}
	const shards = 4
	keys := settest.Integers(40_000, 1)
	for _, n := range []int{8, 32, 1000, len(keys)} {
		path := settest.WriteIntegers(t, "standard(bytes=4800000)", shards, keys)
		set := settest.OpenSet(t, path)
		got := make([]bool, n)
		bloomery.Keyed[uint64](set).ContainsMany(make([]bool, len(keys)), keys) // loads all shards
		bloomery.Keyed[uint64](set).ContainsMany(got, keys[:n])
		check(t, os.Truncate(filepath.Join(path, shardset.Name(1, shards, "")), 0))
		absent := settest.Integers(n, 2)
		bloomery.Keyed[uint64](set).ContainsMany(got, absent)
		for i, k := range absent {
			s := shard.Route(set.Hasher().SumUint64(k), shards)
			if s == 1 && !got[i] {
				t.Fatalf("batch of %d: a key of the truncated shard looks absent", n)
			}
			if s != 1 && n == 8 && got[i] != bloomery.Keyed[uint64](set).Contains(k) {
				t.Fatalf("batch of %d: a key of shard %d is %t", n, s, got[i])
			}
		}
		if set.Err() == nil {
			t.Errorf("batch of %d: no error", n)
		}
	}
}
