package blockpartitioned

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

var long = flag.Bool("long", false, "measure rates of large filters too")

func build(t testing.TB, c Config, hs []filter.Hash) *Filter {
	t.Helper()
	b, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddMany(hs); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return f.(*Filter)
}

// TestRates holds the promises of the default effort, all blocks with the loads that chance gives them. A plain blocked
// filter has 0.0234, 0.0095 and 8.4e-4, a standard one 0.0216, 0.0082 and 4.6e-4.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		bits   float64
		block  uint64
		atMost float64
	}{{8, 512, 0.0097}, {10, 512, 0.0035}, {16, 512, 1.8e-4}, {8, 1024, 0.0086}} {
		for _, n := range []int{100_000, 1_000_000} {
			if n > 100_000 && !*long || testing.Short() {
				continue
			}
			t.Run(fmt.Sprintf("%g/%d/%d", c.bits, c.block, n), func(t *testing.T) {
				start := time.Now()
				var sum float64
				const seeds = 5
				for seed := range uint64(seeds) {
					f := build(t, Config{Size: filter.Sizing{BitsPerKey: c.bits}, Block: c.block}, filtertest.Hashes(n, 10+seed))
					sum += f.Info().FPRPosterior
					if seed == 0 {
						t.Log(f.geometry)
					}
				}
				t.Logf("rate %.4g of at most %.4g, %.2f µs a key", sum/seeds, c.atMost, float64(time.Since(start).Microseconds())/float64(n*seeds))
				if sum/seeds > c.atMost {
					t.Errorf("rate %.4g, want at most %.4g", sum/seeds, c.atMost)
				}
			})
		}
	}
}

func BenchmarkTune(b *testing.B) {
	for b.Loop() {
		forecasts.Clear()
		_, _ = tune(context.Background(), 512, 64, 72)
	}
}

func BenchmarkBuild(b *testing.B) {
	hs := filtertest.Hashes(1_000_000, 1)
	for b.Loop() {
		build(b, Config{Workers: 1}, hs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/key")
}

func BenchmarkHas(b *testing.B) {
	hs := filtertest.Hashes(1_000_000, 1)
	f := build(b, Config{}, hs)
	for _, c := range []struct {
		name string
		hs   []filter.Hash
	}{{"absent", filtertest.Hashes(1<<16, 2)}, {"present", hs[:1<<16]}} {
		b.Run(c.name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				f.Has(c.hs[i&(1<<16-1)])
				i++
			}
		})
	}
}
