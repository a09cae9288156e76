package ptc

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestOneTrial requires that no row of a single trial disagrees with the paper: a tolerance takes the trials into
// account.
func TestOneTrial(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, e := range Experiments() {
		r, err := e.Do(t.Context(), experiment.Config{Trials: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			if row.Agrees != nil && !*row.Agrees {
				t.Errorf("%s: %s: %g, published %g ± %g", e.Name, row.Label, row.Measured, *row.Published, row.Tolerance)
			}
		}
	}
}

// TestSpread compares the spread of the share of ones with the spread of trials.
func TestSpread(t *testing.T) {
	const n, trials = 2000, 400
	c := experiment.Config{}
	c.Begin(trials)
	for x, want := range map[choice][2]float64{{8, 1, 6, 1}: {0.9, 1.1}, {16, 2, 13, 1}: {0.7, 1}, {32, 3, 25, 1}: {0.6, 1}} {
		fills, err := x.online(t.Context(), c, c.Work(trials), 1, n, trials, independent, fillOf)
		if err != nil {
			t.Fatal(err)
		}
		_, sigma := stat.MeanStdDev(fills, nil)
		if ratio := sigma / x.spread(n); ratio < want[0] || ratio > want[1] {
			t.Errorf("%s: the spread is %.2f of the formula, want %v", x, ratio, want)
		}
	}

	// At 200 trials the tolerances are about 1.5% and 3%.
	for _, p := range onlineRows {
		want := 0.015
		if p.bits == 32 {
			want = 0.03
		}
		if got := p.tolerance(10_000, 200) / p.rate; math.Abs(got-want) > 0.0015 {
			t.Errorf("%s: a tolerance of %.2f%%, want %.1f%%", p, 100*got, 100*want)
		}
	}
}

// TestDouble counts false positives of double hashing with few keys and many bits, where coinciding groups cause nearly
// all of them. With independent hashing there are none.
func TestDouble(t *testing.T) {
	const n, trials, seeds = 500, 100_000, 20
	x := choice{bits: 39.9, c: 4, k: 26}
	var seen, want float64
	for seed := range uint64(seeds) {
		f, same := x.paper(n, true), x.paper(n, false)
		for _, h := range filtertest.Hashes(n, seed) {
			_, _ = f.Add(h), same.Add(h)
		}
		want += x.doubleRate(f.Info().Fill, n, float64(f.m)) * trials
		for _, h := range filtertest.Hashes(trials, 100+seed) {
			if f.Has(h) {
				seen++
			}
			if same.Has(h) {
				t.Fatal("a false positive of independent hashing, whose rate is 1e-8")
			}
		}
	}
	// False positives come in clusters, one per present key. Therefore the bound is 4.5 standard deviations plus a
	// tenth.
	if d := 4.5*math.Sqrt(want) + want/10; want < 20 || math.Abs(seen-want) > d {
		t.Errorf("%g false positives, want %.1f ± %.1f", seen, want, d)
	}
}
