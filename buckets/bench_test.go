package buckets_test

import (
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/filter"
)

// BenchmarkHas asks for keys whose shards or blocks are in the cache, beside the local set.
func BenchmarkHas(b *testing.B) {
	dir, local := storetest.Build(b, 100_000, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 16})
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
