package twochoice

import (
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestFill checks cases with a closed form, and the best k that the paper prints.
func TestFill(t *testing.T) {
	for _, per := range []float64{0.01, 0.5, 2, 8, 32} {
		if got, want := Fill(per, 6, 1), -math.Expm1(-6/per); math.Abs(got-want) > 1e-7 {
			t.Errorf("Fill(%g, 6, 1) = %.10f, want %.10f", per, got, want)
		}
	}
	for _, x := range []struct {
		per   float64
		k, c  int
		error float64
	}{{32, 25, 3, 1e-8}, {64, 44, 3, 1e-8}, {8, 9, 16, 1e-8}, {1, 10, 3, 1e-8}, {2, 20, 16, 3e-7}} {
		if got, want := Fill(x.per, x.k, x.c), euler(x.per, x.k, x.c); math.Abs(got-want) > x.error {
			t.Errorf("Fill(%g, %d, %d) = %.10f, want %.10f", x.per, x.k, x.c, got, want)
		}
	}
	// One function, two choices: dz/dt = (1-z)²/per, so 1 - z = 1/(1 + 1/per).
	if got, want := Fill(2, 1, 2), 1-1/1.5; math.Abs(got-want) > 1e-9 {
		t.Errorf("Fill(2, 1, 2) = %g, want %g", got, want)
	}
	for _, bad := range []float64{Fill(0, 6, 2), Fill(math.NaN(), 6, 2), Fill(8, 0, 2), Fill(8, 6, 0)} {
		if !math.IsNaN(bad) {
			t.Errorf("outside its domain Fill gives %g", bad)
		}
	}
	for _, row := range []struct {
		per  float64
		c, k int
	}{{8, 1, 6}, {8, 2, 7}, {8, 3, 7}, {16, 1, 11}, {16, 2, 13}, {16, 3, 13}, {32, 1, 22}, {32, 2, 24}, {32, 3, 25}} {
		if k := bestK(row.per, row.c); k != row.k {
			t.Errorf("bestK(%g, %d) = %d, published %d", row.per, row.c, k, row.k)
		}
	}
}

// euler solves the equation by Euler's method with several numbers of steps, and extrapolates twice.
func euler(per float64, k, c int) float64 {
	solve := func(steps int) (z float64) {
		for range steps {
			z += fewest(z, k, c) / per / float64(steps)
		}
		return z
	}
	a, b, d := solve(10_000), solve(20_000), solve(40_000)
	x, y := 2*b-a, 2*d-b
	return (4*y - x) / 3
}

// TestProbes checks the number of windows that a query for an absent key reads: window i+1 if not all groups are
// excluded after i.
func TestProbes(t *testing.T) {
	f := build(t, Config{Choices: 4, Effort: filter.Effort{Passes: 2}}, filtertest.Hashes(5000, 1))
	sum, n := 0, 50_000
	for _, h := range filtertest.Hashes(n, 2) {
		sum += f.Probes(h)
	}

	want := 0.0
	for i := range f.k {
		want += FPR(f.Info().Fill, i, f.choices)
	}
	if got := float64(sum) / float64(n); math.Abs(got/want-1) > 0.02 {
		t.Errorf("%g probes, want %g", got, want)
	}
}
