package ph

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
)

// TestFewestOnes compares the optimum with all choices, and the relaxation with the optimum and its upper bound.
func TestFewestOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 6 {
		const pool, k = 6, 2
		functions, choices := make(options, tinyGroups), make(options, tinyGroups)
		for i := range functions {
			for range pool {
				own := uint64(0)
				for range 4 {
					own |= 1 << r.IntN(tinyBits)
				}
				functions[i] = append(functions[i], own)
			}
			choices[i] = subsets(functions[i], k)
			if len(choices[i]) != pool*(pool-1)/2 {
				t.Fatalf("%d choices", len(choices[i]))
			}
		}
		want := tinyBits
		for _, a := range choices[0] {
			for _, b := range choices[1] {
				for _, c := range choices[2] {
					want = min(want, bits.OnesCount64(a|b|c))
				}
			}
		}
		if got := choices.fewestOnes(tinyBits); got != want {
			t.Errorf("trial %d: %d ones, want %d", trial, got, want)
		}
		if got := choices.fewestOnes(want); got != want {
			t.Errorf("trial %d: %d ones from the optimum, want %d", trial, got, want)
		}
		low, err := relaxation(functions, k)
		if err != nil {
			t.Fatal(err)
		}
		touched := uint64(0)
		for _, f := range functions {
			for _, own := range f {
				touched |= own
			}
		}
		even := float64(bits.OnesCount64(touched)) * k / pool // X = k/H everywhere
		if low < k || low > math.Min(float64(want), even)+1e-6 {
			t.Errorf("trial %d: relaxation %g, optimum %d, even choice %g", trial, low, want, even)
		}
	}
}

// TestRelaxation solves programs with known optima.
func TestRelaxation(t *testing.T) {
	for _, c := range []struct {
		functions options
		k         int
		want      float64
	}{
		{options{{0b1111, 0b0110}}, 1, 2},         // the better one
		{options{{0b0011, 0b1100}}, 2, 4},         // both
		{options{{0b0011, 0b1100}}, 1, 2},         // any mixture
		{options{{1, 2, 4}, {1, 2, 4}}, 1, 1},     // the same for both groups
		{options{{1, 2}, {2, 4}, {4, 1}}, 1, 1.5}, // half of each; two bits are the integer optimum
	} {
		if got, err := relaxation(c.functions, c.k); err != nil || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%b: %g, want %g (%v)", c.functions, got, c.want, err)
		}
	}
}

// TestSolveTiny requires that no search is below the optimum, and no optimum below its relaxation.
func TestSolveTiny(t *testing.T) {
	for trial := range 10 {
		got, err := solveTiny(t.Context(), experiment.Config{Seed: 2}, 4, trial)
		if err != nil {
			t.Fatal(err)
		}
		if got.relaxed > got.best+1e-6 || got.best > got.greedy || got.bestShifts > min(got.plain, got.search) {
			t.Errorf("trial %d: %+v", trial, got)
		}
	}
}

// TestDivide requires the sizes of groups, and a rate that agrees with the equal search when all weights are equal.
func TestDivide(t *testing.T) {
	c := experiment.Config{Seed: 3}
	for _, o := range []construction{asPublished(400, 32), asShifts(600)} {
		hs := c.Hashes(o.n, 0)
		equal, mean, err := o.divide(t.Context(), hs, 6, nil, false)
		if err != nil || math.Abs(mean-6) > 1e-9 || equal < 0.004 || equal > 0.03 {
			t.Errorf("%s: rate %g, mean %g, %v", o.name, equal, mean, err)
		}
		same, mean, err := o.divide(t.Context(), hs, 6, func(d divided) []float64 {
			all := 0.0
			for i, size := range d.sizes {
				all += size
				d.sizes[i] = 1
			}
			if math.Abs(all-float64(o.n)) > 1e-6 {
				t.Errorf("%s: %g keys in groups", o.name, all)
			}
			return d.sizes
		}, true)
		if err != nil || same != equal || math.Abs(mean-6) > 1e-9 {
			t.Errorf("%s: rate %g, mean %g, %v; want %g", o.name, same, mean, err, equal)
		}
	}
}
