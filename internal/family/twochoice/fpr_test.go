package twochoice

import (
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
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

// TestDouble counts false positives of double hashing with few keys and many bits, where coinciding groups cause nearly
// all of them. With independent hashing there are none.
func TestDouble(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n, trials, seeds = 500, 1_000_000, 6
	var seen, want float64
	for seed := range uint64(seeds) {
		f := &Filter{geometry: geometry{shards: 1, bits: 19_968, choices: 4, k: 26, hashing: Double}, words: make([]uint64, 312)}
		for _, h := range filtertest.Hashes(n, seed) {
			_ = f.Add(h)
		}
		want += f.Info().FPRPosterior * trials
		for _, h := range filtertest.Hashes(trials, 100+seed) {
			if f.Has(h) {
				seen++
			}
		}
	}
	// False positives come in clusters, one per present key. Therefore the bound is 4.5 standard deviations plus a
	// tenth.
	if d := 4.5*math.Sqrt(want) + want/10; want < 50 || math.Abs(seen-want) > d {
		t.Errorf("%g false positives, want %.1f ± %.1f", seen, want, d)
	}
	f := build(t, Config{Size: family.Sizing{BitsPerKey: 40}, K: 26, Choices: 4, Effort: filter.Effort{Passes: 1}},
		filtertest.Hashes(n, 1))
	for _, h := range filtertest.Hashes(trials, 2) {
		if f.Has(h) {
			t.Fatal("a false positive of independent hashing, whose rate is 1e-8")
		}
	}
}

// TestForecastDouble checks that forecasts use the frequency of coinciding groups in a shard, not in a sample or in the
// whole filter, for searched and for growing filters, and that earlier forecasts do not matter.
func TestForecastDouble(t *testing.T) {
	const n = 100_000
	hs := filtertest.Hashes(n, 1)
	for _, passes := range []int{1, 4} {
		c := Config{Size: family.Sizing{BitsPerKey: 28}, K: 22, Hashing: Double, Effort: filter.Effort{Passes: passes}}
		f := build(t, c, hs).Info()
		if _, p, err := c.Forecast(n); err != nil || math.Abs(p/f.FPRPosterior-1) > 0.05 {
			t.Errorf("%d passes: forecast %g, %v; posterior %g", passes, p, err, f.FPRPosterior)
		}
		_, first, _ := c.Forecast(10_000)
		_, _, _ = c.Forecast(10_000_000)
		if _, again, _ := c.Forecast(10_000); again != first {
			t.Errorf("forecast %g, then %g", first, again)
		}
	}
	f, err := New(Config{Keys: n, Size: family.Sizing{FPR: 1e-5}, Hashing: Double})
	if err != nil {
		t.Fatal(err)
	}
	if p := f.priorRate(n); p > 1e-5 || p < 0.9e-5 {
		t.Errorf("prior rate %g, asked for 1e-5", p)
	}
}

// TestProbes checks that an absent key costs about c/(1-f) probes.
func TestProbes(t *testing.T) {
	f := build(t, Config{Choices: 4, Effort: filter.Effort{Passes: 2}}, filtertest.Hashes(5000, 1))
	sum, n := 0, 50_000
	for _, h := range filtertest.Hashes(n, 2) {
		sum += f.Probes(h)
	}
	fill := f.Info().Fill
	if got, want := float64(sum)/float64(n), 4*(1-math.Pow(fill, float64(f.k)))/(1-fill); math.Abs(got/want-1) > 0.02 {
		t.Errorf("%g probes, want %g", got, want)
	}
}
