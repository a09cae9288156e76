package ptc

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/internal/family/twochoice"
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
		fills, err := x.online(t.Context(), c, c.Work(trials), 1, n, trials, twochoice.Independent, fillOf)
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
