package anneal

import (
	"math"
	"testing"
)

// TestLeastBits searches for sizes on lines of several slopes, with a threshold below which no size is possible.
func TestLeastBits(t *testing.T) {
	for _, slope := range []float64{0.3, 0.69, 0.85, 1.2} {
		for _, fits := range []float64{0, 3} {
			for _, fpr := range []float64{0.9, 0.5, 0.01, 1e-6, 1e-12} {
				calls := 0
				per, nearest := LeastBits(fpr, 1, 64, func(per float64) float64 {
					calls++
					if per < fits {
						return 2
					}
					return math.Exp2(-slope * per)
				})
				want := max(1, fits, -math.Log2(fpr)/slope)
				switch {
				case want > 64:
					if !math.IsInf(per, 1) || nearest != math.Exp2(-slope*64) {
						t.Errorf("slope %g, %g: %g bits, nearest %g", slope, fpr, per, nearest)
					}
				case per < want*(1-1e-9) || per > want+2./1024 || calls > 30:
					t.Errorf("slope %g, %g: %g bits after %d calls, want %g", slope, fpr, per, calls, want)
				}
			}
		}
	}
}
