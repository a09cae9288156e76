package families_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// BenchmarkQuery asks filters that fit the caches and larger ones for absent and for present keys, one by one, in
// batches, and in the form for many writers.
func BenchmarkQuery(b *testing.B) {
	specs := []string{
		"standard", "blocked", "blocked(layout=split)", "blocked(k=20)", "counting", "rankindexed", "guava",
		"spark", "redisbloom",
		"partitioned(passes=1)", "blockpartitioned(passes=1)", "twochoice(passes=1)", "fuse", "ribbon",
	}
	for _, text := range specs {
		s, err := filter.ParseSpec(text)
		if err != nil {
			b.Fatal(err)
		}
		f, err := families.ByName(s.Family())
		if err != nil {
			b.Fatal(err)
		}
		for _, keys := range []int{100_000, 4_000_000} {
			name := fmt.Sprintf("family=%s/n=%d", text, keys)
			hs := filtertest.Hashes(keys, 1)
			absent := filtertest.Hashes(1<<16, 2)
			var built family.Filter
			filled := func(b *testing.B) family.Filter {
				if built != nil {
					return built
				}
				builder, err := f.NewBuilder(s, uint64(keys))
				if err == nil {
					err = builder.AddMany(hs)
				}
				if err == nil {
					built, err = builder.Build(b.Context())
				}
				if err != nil {
					b.Fatal(err)
				}
				return built
			}
			var dst [256]bool
			// loop reports the fastest of all passes over the keys, which other load on the machine changes least.
			loop := func(b *testing.B, asked []filter.Hash, ask func(hs []filter.Hash)) {
				best := time.Duration(math.MaxInt64)
				for b.Loop() {
					begin := time.Now()
					for from := 0; from < len(asked); from += len(dst) {
						ask(asked[from:][:len(dst)])
					}
					best = min(best, time.Since(begin))
				}
				b.ReportMetric(float64(best.Nanoseconds())/float64(len(asked)), "min-ns/key")
			}
			for hit, asked := range [][]filter.Hash{absent, hs[:1<<16]} {
				b.Run(fmt.Sprintf("op=has/%s/hit=%d", name, hit), func(b *testing.B) {
					q := filled(b)
					loop(b, asked, func(hs []filter.Hash) {
						for i, h := range hs {
							dst[i] = q.Has(h)
						}
					})
				})
				b.Run(fmt.Sprintf("op=hasmany/%s/hit=%d", name, hit), func(b *testing.B) {
					q := filled(b).(family.Batcher)
					loop(b, asked, func(hs []filter.Hash) { q.HasMany(dst[:], hs) })
				})
			}
			if f.Can.Has(family.CanConcurrent) {
				b.Run(fmt.Sprintf("op=sharedmany/%s", name), func(b *testing.B) {
					q := filled(b).(family.Sharer).Concurrent().(family.Batcher)
					built = nil
					loop(b, absent, func(hs []filter.Hash) { q.HasMany(dst[:], hs) })
				})
			}
		}
	}
}
