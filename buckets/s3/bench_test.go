package s3_test

import (
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/fakes3"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
)

// BenchmarkImitation measures what requests cost this machine, without the time on a network: opening a set of 1,000
// shards, and a key whose shard of 1.3 KB or block has to be read.
func BenchmarkImitation(b *testing.B) {
	f := fakes3.New(b)
	s, err := buckets.OpenStore(b.Context(), f.Address("sets/one"))
	if err != nil {
		b.Fatal(err)
	}
	dir, _ := storetest.Build(b, 1_000_000, bloomery.Config{Spec: "blocked(bits_per_key=10)", Shards: 1000})
	storetest.Copy(b, buckets.Folder(dir), s)
	for name, o := range map[string]buckets.Options{
		"read=shard": {CacheBytes: 20_000}, "read=block": {Blocks: true, BlockCacheBytes: 1},
	} {
		b.Run("op=open/"+name, func(b *testing.B) {
			for b.Loop() {
				set, err := buckets.Open(b.Context(), f.Address("sets/one"), o)
				if err != nil {
					b.Fatal(err)
				}
				_ = set.Close()
			}
		})
		b.Run("op=contains/"+name, func(b *testing.B) {
			set, err := buckets.Open(b.Context(), f.Address("sets/one"), o)
			if err != nil {
				b.Fatal(err)
			}
			defer set.Close()
			for k := uint64(0); b.Loop(); k++ {
				if _, err := set.ContainsContext(b.Context(), storetest.Key(k)); err != nil {
					b.Fatal(err)
				}
			}
			st := set.Stats()
			b.ReportMetric(float64(st.Bytes)/float64(b.N), "B/key")
		})
	}
}
