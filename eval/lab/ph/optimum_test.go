package ph

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
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
		if low < k || low > math.Min(float64(want), even)+1e-4 {
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
		if got, err := relaxation(c.functions, c.k); err != nil || math.Abs(got-c.want) > 1e-5 {
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
		if got.relaxed > got.best+1e-4 || got.best > got.greedy || got.bestShifts > min(got.plain, got.search) {
			t.Errorf("trial %d: %+v", trial, got)
		}
	}
}

// TestDivide requires the sizes of groups, the same filters from the same keys, and equal k in the first way.
func TestDivide(t *testing.T) {
	c := experiment.Config{Seed: 3}
	for _, o := range []construction{asPublished(400, 32), asShifts(600)} {
		hs, ks := c.Hashes(o.n, 0), slices.Repeat([]int{6}, o.groups)
		d, err := o.search(t.Context(), hs, ks, o.bits(ks, true))
		if err != nil {
			t.Fatal(err)
		}
		keys, alone := 0.0, 0.0
		for j := range d.sizes {
			keys, alone = keys+d.sizes[j], alone+d.alone[j]
		}
		if math.Abs(keys-float64(o.n)) > 1e-6 || alone <= 0 || alone >= keys {
			t.Errorf("%s: %g keys, %g bits that one function sets alone", o.name, keys, alone)
		}
		got, err := o.divide(t.Context(), hs, 6)
		if err != nil || len(got) != 2*len(ways) || math.Abs(got[0]-math.Pow(d.fill, 6)) > 1e-12 {
			t.Fatalf("%s: %v, %v", o.name, got, err)
		}
		for i := range ways {
			rate, mean := got[2*i], got[2*i+1]
			if i == 0 && math.Abs(mean-6) > 1e-9 || math.Abs(mean-6) > 0.5 || rate < 0.004 || rate > 0.03 {
				t.Errorf("%s, %s: rate %g, mean k %g", o.name, ways[i].name, rate, mean)
			}
		}
	}
	// Four groups of equal k need no names, and two of each of two k a bit per group.
	o := construction{n: 10, groups: 4}
	if a, b := o.bits([]int{3, 3, 3, 3}, true), o.bits([]int{3, 4, 3, 4}, true); a != 80 || b != 76 {
		t.Errorf("%d and %d bits", a, b)
	}
}
