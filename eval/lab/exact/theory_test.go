package exact

import (
	"math"
	"testing"
)

// TestTheory compares the formulas with known values for a universe of 10 million keys, and the entropy with a small
// binomial coefficient.
func TestTheory(t *testing.T) {
	const universe = 1e7
	for _, c := range []struct{ members, entropy, levels, cascade float64 }{
		{1e4, 11.41, 11.88, 18.6}, {1e5, 8.08, 8.54, 13.8}, {1e6, 4.69, 5.08, 8.8},
	} {
		for name, v := range map[string][2]float64{
			"entropy":    {entropy(universe, c.members) / c.members, c.entropy},
			"two levels": {twoLevels(universe, c.members), c.levels},
			"cascade":    {bloomCascade(universe, c.members), c.cascade},
		} {
			if tolerance := map[string]float64{"cascade": 0.05}[name] + 0.006; math.Abs(v[0]-v[1]) > tolerance {
				t.Errorf("%s of %g members: %.3f bits, want %g", name, c.members, v[0], v[1])
			}
		}
	}
	if got := entropy(10, 3); math.Abs(got-math.Log2(120)) > 1e-9 {
		t.Errorf("entropy of 3 of 10: %g", got)
	}
	if got := twoLevels(10, 5); got != 2 {
		t.Errorf("two levels of 5 of 10: %g bits", got)
	}
	if entropy(10, 0) != 0 || entropy(10, 10) != 0 {
		t.Error("no members, or all, have an entropy")
	}
}
