package families

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// BenchmarkQuery queries filters that fit into the caches and larger ones for absent and for present keys, one by one,
// in batches, and in the form for many writers.
func BenchmarkQuery(b *testing.B) {
	specs := []string{
		"standard", "blocked", "blocked(layout=split)", "blocked(k=20)", "counting", "rankindexed", "guava",
		"spark", "redisbloom",
		"partitioned(passes=1)", "blockpartitioned(passes=1)", "twochoice(passes=1)", "fuse", "ribbon",
	}
	for _, text := range specs {
		f, s := parse(b, text)
		for _, keys := range []int{100_000, 4_000_000} {
			name := fmt.Sprintf("family=%s/n=%d", text, keys)
			hs := filtertest.Hashes(keys, 1)
			absent := filtertest.Hashes(1<<16, 2)
			var built family.Filter
			filled := func(b *testing.B) family.Filter {
				if built == nil {
					built = build(b, f, s, hs)
				}
				return built
			}
			var dst [256]bool
			// loop reports the fastest of all passes over the keys, which other load on the machine affects least.
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

// BenchmarkFill compares builders with Add. A builder that does not gather its keys should take at most 1.2 times the
// time of Add.
func BenchmarkFill(b *testing.B) {
	const keys = 1_000_000
	hs := filtertest.Hashes(keys, 1)
	for _, f := range All() {
		if f.NewBuilder == nil {
			continue
		}
		s := family.NewSpec(f.Name, "bits_per_key", 10.0)
		if fills(f) {
			b.Run("op=add/family="+f.Name, func(b *testing.B) {
				for b.Loop() {
					addAll(b, start(b, f, s, keys), hs)
				}
				reportPerKey(b, keys)
			})
		}
		b.Run("op=build/family="+f.Name, func(b *testing.B) {
			for b.Loop() {
				build(b, f, s, hs)
			}
			reportPerKey(b, keys)
		})
	}
}

// reportPerKey reports the time of each key of an iteration.
func reportPerKey(b *testing.B, keys float64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/key")
	b.ReportMetric(0, "ns/op")
}

// benchSpecs returns specs of a family for benchmarks of small builds: its default, a low rate, and the parameters that
// change how it is planned.
func benchSpecs(f Family) []filter.Spec {
	plain := family.NewSpec(f.Name)
	specs := []filter.Spec{plain, plain.With("fpr", 0.01), plain.With("fpr", 1e-6)}
	if f.Can.Has(family.CanLater) {
		specs = append(specs, plain.With("fpr", 0.01).With("later", 100))
	}
	if f.Can.Has(family.CanSearch) {
		specs = append(specs, plain.With("bits_per_key", 12).With("effort", "fast"))
	}
	return specs
}

// BenchmarkPlan measures Forecast, which every build calls for its geometry. It must take less than 2 ms.
func BenchmarkPlan(b *testing.B) {
	for _, f := range All() {
		for _, spec := range benchSpecs(f) {
			for _, n := range []uint64{1000, 1_000_000} {
				if _, _, err := f.Forecast(spec, n); err != nil {
					continue // a rate that the family does not support
				}
				b.Run(fmt.Sprintf("spec=%s/n=%g", spec, float64(n)), func(b *testing.B) {
					keys := n // another number each time, so that no family can reuse a result
					for b.Loop() {
						keys++
						if _, _, err := f.Forecast(spec, keys); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkSmallBuild measures builds of 1000 keys. They must take less than 10 ms of CPU time.
func BenchmarkSmallBuild(b *testing.B) {
	hs := filtertest.Hashes(1000, 1)
	for _, f := range All() {
		for _, spec := range benchSpecs(f) {
			if _, _, err := f.Forecast(spec, 1000); err != nil || f.NewBuilder == nil {
				continue
			}
			b.Run(fmt.Sprintf("spec=%s", spec), func(b *testing.B) {
				for b.Loop() {
					build(b, f, spec, hs)
				}
			})
		}
	}
}

// BenchmarkConcurrent measures the time per key of adding new keys to the plain and the concurrent form of filters, and
// of TestAndAdd in the concurrent form, with 1 and 2 goroutines. The time is wall time, so with two goroutines half the
// time is ideal. The plain form of TestAndAdd is Has, then Add.
func BenchmarkConcurrent(b *testing.B) {
	const keys = 1 << 20
	hs := filtertest.Hashes(keys, 1)
	for _, name := range With(family.CanConcurrent) {
		f, s := parse(b, name)
		run := func(op string, goroutines int, change func(f family.Filter, h filter.Hash)) {
			b.Run(fmt.Sprintf("op=%s/family=%s/goroutines=%d", op, name, goroutines), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					made := start(b, f, s, keys)
					if goroutines > 0 { // 0 stands for the plain form
						made = made.(family.Sharer).Concurrent()
					}
					b.StartTimer()

					var wg sync.WaitGroup
					for part := range slices.Chunk(hs, keys/max(1, goroutines)) {
						wg.Go(func() {
							for _, h := range part {
								change(made, h)
							}
						})
					}
					wg.Wait()
				}
				reportPerKey(b, keys)
			})
		}
		for goroutines := range 3 {
			run("add", goroutines, func(f family.Filter, h filter.Hash) { _ = f.(family.Adder).Add(h) })
		}
		run("testandadd", 0, func(f family.Filter, h filter.Hash) {
			if !f.Has(h) {
				_ = f.(family.Adder).Add(h)
			}
		})
		for _, goroutines := range []int{1, 2} {
			run("testandadd", goroutines, func(f family.Filter, h filter.Hash) {
				_, _ = f.(family.Concurrent).TestAndAdd(h)
			})
		}
	}
}
