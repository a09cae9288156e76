package blocked

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
)

// BenchmarkGeometry measures the search for the fewest blocks that keep a rate.
func BenchmarkGeometry(b *testing.B) {
	for _, layout := range []Layout{Line, Split} {
		for _, fpr := range []float64{0.5, 0.01, 1e-4, 1e-9} {
			b.Run(fmt.Sprintf("layout=%s/fpr=%g", layout, fpr), func(b *testing.B) {
				for b.Loop() {
					c := Config{Keys: 1_000_000, Size: family.Sizing{FPR: fpr}, Layout: layout}
					if _, _, err := c.Geometry(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
