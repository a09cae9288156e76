package ribbon

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestHas compares Has and HasMany with Get, which is the specification, in filters with and without values, wide
// blocks and layers. Absent keys show the bits that present ones cannot.
func TestHas(t *testing.T) {
	sizes := []int{0, 1, 256, 300, 5_000, 300_000}
	if testing.Short() {
		sizes = sizes[:5]
	}
	for _, spec := range []string{
		"ribbon(r=1)", "ribbon", "ribbon(r=16,w=128)", "ribbon(fpr=0.3)", "ribbon(fpr=0.003,w=128)", "ribbon(r=32)",
	} {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s/%d", spec, n), func(t *testing.T) {
				hs := filtertest.Hashes(n, 1)
				f := build(t, spec, hs)
				hs = append(hs[:min(n, 20_000):min(n, 20_000)], filtertest.Hashes(20_000, 2)...)
				dst := make([]bool, len(hs))
				f.HasMany(dst, hs)
				for i, h := range hs {
					if _, want := f.Get(h); f.Has(h) != want || dst[i] != want {
						t.Fatalf("key %d: Has %t, HasMany %t, want %t", i, f.Has(h), dst[i], want)
					}
				}
				f.HasManyCold(dst, hs)
				for i, h := range hs {
					if dst[i] != f.Has(h) {
						t.Fatalf("key %d: HasManyCold %t", i, dst[i])
					}
				}
			})
		}
	}
}
