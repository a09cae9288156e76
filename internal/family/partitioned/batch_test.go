package partitioned

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestBatch asks in batches as if the filter were larger than the caches: below that HasMany is Has.
func TestBatch(t *testing.T) {
	hs := filtertest.Hashes(70_000, 1)
	for _, bits := range []float64{6, 8, 16, 40} {
		f := build(t, Config{Size: family.Sizing{BitsPerKey: bits}, Effort: filter.Effort{Level: filter.Fast}}, hs)
		asked := append(hs[:len(hs):len(hs)], filtertest.Hashes(70_001, 2)...)
		got := make([]bool, len(asked))
		f.hasMany(got, asked)
		for i, h := range asked {
			if got[i] != f.Has(h) || i < len(hs) && !got[i] {
				t.Fatalf("%g bits, key %d: %v, Has says %v", bits, i, got[i], f.Has(h))
			}
		}
	}
}

// BenchmarkBuild shows what a key costs on one core at a million keys and 8 bits a key, sorting and all; max at 50,000.
func BenchmarkBuild(b *testing.B) {
	hs := filtertest.Hashes(1_000_000, 1)
	for _, c := range []struct {
		effort filter.Level
		n      int
	}{{filter.Fast, len(hs)}, {filter.Default, len(hs)}, {filter.Max, 50_000}} {
		b.Run(fmt.Sprintf("op=build/effort=%s/n=%d", c.effort, c.n), func(b *testing.B) {
			config := Config{Effort: filter.Effort{Level: c.effort}, Workers: 1}
			build(b, config, hs[:c.n]) // finds the division
			b.ResetTimer()
			for b.Loop() {
				build(b, config, hs[:c.n])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.n)/1000, "µs/key")
		})
	}
}
