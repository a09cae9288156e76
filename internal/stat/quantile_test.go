package stat

import (
	"math"
	"testing"
)

// TestTailExceeds compares TailExceeds with UpperTail, on both sides of the mean, at limits around the tail.
func TestTailExceeds(t *testing.T) {
	for _, n := range []uint64{1, 2, 10, 1000, 1e6, 1 << 50} {
		for _, p := range []float64{0, 1e-12, 1e-9, 0.003, 0.3, 0.9, 1} {
			mean := float64(n) * p
			spread := math.Sqrt(mean*(1-p)) + 1
			for z := -6.0; z < 12; z += 0.7 {
				x := uint64(max(0, mean+z*spread))
				tail := UpperTail(x, n, p)
				limits := []float64{0, 1e-300, 1e-15, 0.01, 0.9, 0.5 * tail, math.Nextafter(tail, 0), tail, 2 * tail}
				for _, limit := range limits {
					if limit < 1 && TailExceeds(x, n, p, limit) != (tail > limit) {
						t.Errorf("%d of %d, p=%g: the tail is %g, and the limit %g", x, n, p, tail, limit)
					}
				}
			}
		}
	}
}

// TestUpperQuantile compares the tails at the quantile and one before it.
func TestUpperQuantile(t *testing.T) {
	for _, n := range []uint64{1, 5, 1000, 1e6, 1e9} {
		for _, p := range []float64{1e-9, 1e-4, 0.02, 0.5, 0.99} {
			for _, tail := range []float64{0.1, 1e-5, 2e-11, 1e-16} {
				j := UpperQuantile(n, p, tail)
				mean := uint64(float64(n) * p)
				if j < n && UpperTail(j+1, n, p) > tail {
					t.Errorf("n=%d, p=%g: %d, tail %g, want %g", n, p, j, UpperTail(j+1, n, p), tail)
				}
				few := float64(n)*p*(1-p) <= 9e6 // else an upper bound
				if few && j > mean && UpperTail(j, n, p) <= tail {
					t.Errorf("n=%d, p=%g, tail %g: %d is not the least", n, p, tail, j)
				}
			}
		}
	}
}
