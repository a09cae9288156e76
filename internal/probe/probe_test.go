package probe

import (
	"math"
	"testing"

	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestIndependent counts the joint positions of any two of the first six probes in 64 bits of a filter: chi-squared
// of 4096 cells.
func TestIndependent(t *testing.T) {
	const n, probes, m = 1 << 20, 6, 64
	var cells [probes][probes][m * m]float64
	for _, h := range filtertest.Hashes(n, 3) {
		var at [probes]uint64
		x := h.Lo
		for i := range at {
			at[i] = Position(x, m)
			x = Mix(x, Mixer(h))
			for j := range i {
				cells[j][i][at[j]*m+at[i]]++
			}
		}
	}
	for i := range probes {
		for j := range i {
			var chi float64
			for _, seen := range cells[j][i] {
				const want = n / (m * m)
				chi += (seen - want) * (seen - want) / want
			}
			if z := (chi - (m*m - 1)) / math.Sqrt(2*(m*m-1)); math.Abs(z) > 5 {
				t.Errorf("probes %d and %d: chi-squared %.0f for %d degrees of freedom, %.1f sigma off", j, i, chi, m*m-1, z)
			}
		}
	}
}
