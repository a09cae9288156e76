package rankindexed

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestConcurrent has goroutines add and remove keys of their own, ask for those that stay, and the filter grow meanwhile.
// What is left is what one goroutine would have made.
func TestConcurrent(t *testing.T) {
	for _, cfg := range []Config{{Keys: 30_000}, {Keys: 2000, Growth: 5, Counting: true}, {Keys: 30_000, Bucket: 512}, {Keys: 30_000, ValueBits: 8}} {
		f, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		already := filtertest.Hashes(1500, 99) // it does not begin empty
		for _, h := range already {
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
		}
		c := newConcurrent(f)
		const workers, each = 4, 6000
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				hs := filtertest.Hashes(each, uint64(w))
				for i, h := range hs {
					if err := c.Add(h); err != nil {
						t.Error(err)
						return
					}
					if i%3 == 2 {
						if err := c.Remove(hs[i-1]); err != nil {
							t.Error(err)
						}
						if !c.Has(hs[i-2]) || !c.Has(h) || countOf(c, h) == 0 {
							t.Error("lost a key")
						}
						if _, ok := c.Get(h); !ok {
							t.Error("lost a key's value")
						}
					}
					if i%2000 == 0 {
						_ = c.Info()
					}
				}
			})
		}
		wg.Wait()
		got := c.filter()
		alone, err := newFilter(got.g)
		if err != nil {
			t.Fatal(err)
		}
		if n := uint64(len(already) + workers*each*2/3); cfg.Growth > 0 && (got.g.Capacity < n/2 || got.g.Capacity/2 > n+workers*each/3) {
			t.Errorf("%d keys, capacity %d after the doublings", n, got.g.Capacity)
		}
		for _, h := range already {
			if err := alone.Add(h); err != nil {
				t.Fatal(err)
			}
		}
		for w := range workers {
			for i, h := range filtertest.Hashes(each, uint64(w)) {
				if i%3 != 1 {
					if err := alone.Add(h); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		got, _ = got.tidy()
		alone, _ = alone.tidy()
		if got.keys != alone.keys || got.used != alone.used || !slices.EqualFunc(got.Encode().Sections, alone.Encode().Sections, slices.Equal[[]uint64]) {
			t.Errorf("%+v: %d keys in %d cells, one goroutine makes %d in %d", cfg, got.keys, got.used, alone.keys, alone.used)
		}
	}
}

// BenchmarkConcurrent is the throughput of a mixed load, a quarter of each operation, on one goroutine without locks, on one
// with, and on as many as there are processors.
func BenchmarkConcurrent(b *testing.B) {
	const n = 1_000_000
	hs := filtertest.Hashes(n, 1)
	mixed := func(b *testing.B, f interface {
		filter.Filter
		filter.Adder
		filter.Remover
	}, workers int) {
		for b.Loop() {
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					part := hs[w*n/workers : (w+1)*n/workers]
					for _, h := range part {
						_ = f.Add(h)
						f.Has(h)
						f.Has(filter.Hash{Hi: h.Lo, Lo: h.Hi})
						_ = f.Remove(h)
					}
				})
			}
			wg.Wait()
		}
		b.ReportMetric(float64(b.N)*4*n/b.Elapsed().Seconds()/1e6, "Mops/s")
	}
	start := func() *Filter {
		f, err := New(Config{Keys: 2 * n, Fast: true})
		if err != nil {
			b.Fatal(err)
		}
		for _, h := range filtertest.Hashes(n, 2) {
			_ = f.Add(h)
		}
		return f
	}
	b.Run("locks=no/goroutines=1", func(b *testing.B) { mixed(b, start(), 1) })
	b.Run("locks=yes/goroutines=1", func(b *testing.B) { mixed(b, newConcurrent(start()), 1) })
	b.Run(fmt.Sprintf("locks=yes/goroutines=%d", runtime.GOMAXPROCS(0)), func(b *testing.B) {
		mixed(b, newConcurrent(start()), runtime.GOMAXPROCS(0))
	})
}
