// Package bench sets our families beside other libraries: the same keys, the same bits, one process. Keys are random
// 64-bit integers, hashed within the measured time by each library's own hash. Every pair is measured in turns and the
// ratio of each turn is kept; TestRatios prints medians with the range of the middle half.
package bench

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/FastFilter/xorfilter"
	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	holiman "github.com/holiman/bloomfilter/v2"
	parquet "github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/bloom/xxhash"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/family/blocked"
	"github.com/bloomery/bloomery/family/blockpartitioned"
	"github.com/bloomery/bloomery/family/fuse"
	"github.com/bloomery/bloomery/family/partitioned"
	"github.com/bloomery/bloomery/family/standard"
	"github.com/bloomery/bloomery/filter"
)

// bitsPerKey is the size of all filters whose size can be chosen.
const bitsPerKey = 10

// asker asks one filter for many keys and returns how many are present.
type asker func(keys []uint64) int

var hasher = filter.NewHasher(1)

// ours builds a filter of one of our families.
func ours(t testing.TB, spec string, keys []uint64) filter.Filter {
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := container.FamilyByName(s.Family())
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.NewBuilder(s, uint64(len(keys)))
	if err != nil {
		t.Fatal(err)
	}
	hs := make([]filter.Hash, 4096)
	for len(keys) > 0 {
		n := min(len(hs), len(keys))
		for i, k := range keys[:n] {
			hs[i] = hasher.SumUint64(k)
		}
		if err := b.AddMany(hs[:n]); err != nil {
			t.Fatal(err)
		}
		keys = keys[n:]
	}
	out, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// standardOne, blockedOne and fuseOne ask key by key. They are written out because a generic one would call through a
// dictionary, which the peers do not, and not inlined because the compiler inlines nothing into a copy of a closure that
// came with an inlined function (Go 1.26): the peers' functions have loops, are not inlined, and so their closures inline.
//
//go:noinline
func standardOne(f *standard.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func blockedOne(f *blocked.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func fuseOne(f *fuse.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

// many asks in batches, hashing included.
func many(f filter.Filter) asker {
	b := f.(filter.Batcher)
	hs, out := make([]filter.Hash, 256), make([]bool, 256)
	return func(keys []uint64) (n int) {
		for len(keys) > 0 {
			part := min(len(hs), len(keys))
			for i, k := range keys[:part] {
				hs[i] = hasher.SumUint64(k)
			}
			b.HasMany(out[:part], hs[:part])
			for _, hit := range out[:part] {
				if hit {
					n++
				}
			}
			keys = keys[part:]
		}
		return n
	}
}

//go:noinline
func partitionedOne(f *partitioned.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func blockpartitionedOne(f *blockpartitioned.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

func bitsAndBlooms(keys []uint64, bitsPerKey, k int) asker {
	f := bitsbloom.New(uint(len(keys)*bitsPerKey), uint(k))
	var buf [8]byte
	for _, k := range keys {
		binary.LittleEndian.PutUint64(buf[:], k)
		f.Add(buf[:])
	}
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			binary.LittleEndian.PutUint64(buf[:], k)
			if f.Test(buf[:]) {
				n++
			}
		}
		return n
	}
}

func holimanBloom(keys []uint64) asker {
	f, err := holiman.New(uint64(len(keys)*bitsPerKey), 7)
	if err != nil {
		panic(err)
	}
	for _, k := range keys {
		f.AddHash(k)
	}
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.ContainsHash(k) {
				n++
			}
		}
		return n
	}
}

func parquetSplitBlock(keys []uint64) asker {
	f := make(parquet.SplitBlockFilter, parquet.NumSplitBlocksOf(int64(len(keys)), bitsPerKey))
	for _, k := range keys {
		f.Insert(xxhash.Sum64Uint64(k))
	}
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Check(xxhash.Sum64Uint64(k)) {
				n++
			}
		}
		return n
	}
}

func binaryFuse8(keys []uint64) asker {
	f, err := xorfilter.PopulateBinaryFuse8(append([]uint64(nil), keys...))
	if err != nil {
		panic(err)
	}
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Contains(k) {
				n++
			}
		}
		return n
	}
}

func randomKeys(n int, seed uint64) []uint64 {
	r := rand.New(rand.NewPCG(seed, 77))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	return keys
}

// BenchmarkQueries shows ns a query of every filter; go test -bench . -benchtime 1x keeps it from rotting.
func BenchmarkQueries(b *testing.B) {
	for _, n := range sizes() {
		present, absent := randomKeys(n, 1), randomKeys(n, 2)
		for _, c := range contenders(b, present) {
			for hit, keys := range [][]uint64{absent, present} {
				b.Run(fmt.Sprintf("op=has/filter=%s/n=%d/hit=%d", c.name, n, hit), func(b *testing.B) {
					part := keys[:min(len(keys), 1<<20)]
					count := 0
					for b.Loop() {
						count = c.ask(part)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(part)), "ns/key")
					b.ReportMetric(float64(count)/float64(len(part)), "present")
				})
			}
		}
	}
}
