package partitioned

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestBatch asks in batches as if the filter were larger than the caches: below that HasMany is Has.
func TestBatch(t *testing.T) {
	hs := filtertest.Hashes(70_000, 1)
	for _, bits := range []float64{6, 8, 16, 40} {
		f := build(t, Config{Size: filter.Sizing{BitsPerKey: bits}, Effort: filter.Effort{Level: filter.Fast}}, hs)
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
