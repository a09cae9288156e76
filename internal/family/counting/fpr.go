package counting

import (
	"math"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// lossSteps is the number of steps of the integral in lossPerAbsent. 64 steps are within 0.1% of 1000.
const lossSteps = 64

// lossPerAbsent returns the mean number of keys that become absent for each absent key in a list of keys to remove, if
// fill is the share of counters that are not 0 and keep the share of the keys that are not in the list.
//
// The counters are about Poisson with mean λ = -ln(1-fill); the counters of the kept keys have the mean κ = keep·λ.
// While the list is removed, the mean falls from λ to κ, and an absent key looks present with probability f^k, where f
// is the share of counters that are not 0 at that time. Its removal then decrements k of these counters. A counter that
// stands for one kept key, a share κe^-κ/f of them, makes that key absent. Keys that were added more than once are lost
// less often.
func lossPerAbsent(fill float64, k int, keep float64) float64 {
	lambda := min(-math.Log1p(-fill), 64) // -ln 0 if every counter is in use
	kept := keep * lambda
	var sum float64
	for i := range lossSteps {
		mean := kept + (lambda-kept)*(float64(i)+0.5)/lossSteps
		sum += math.Pow(-math.Expm1(-mean), float64(k-1))
	}
	return float64(k) * kept * math.Exp(-kept) * sum / lossSteps
}

// Cells describes the counters: a counter of 0 is free.
func (f *Filter) Cells() family.Cells { return probe.Cells(f.m, f.k) }

// Free returns the number of counters that are 0 in both filters. Errors are the errors of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) {
	o, err := bitvec.Same(f, other)
	if err != nil {
		return 0, err
	}
	free := f.m
	for i, w := range f.words {
		free -= usedIn(w | o.words[i])
	}
	return free, nil
}
