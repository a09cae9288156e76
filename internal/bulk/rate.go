package bulk

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
)

// Interval returns the observed rate of that many false positives among trials absent keys, 0 without trials, and the
// exact 95% interval (Clopper and Pearson) of the true rate.
func Interval(falsePositives, trials uint64) (observed, low, high float64) {
	if trials > 0 {
		observed = float64(falsePositives) / float64(trials)
	}
	low, high = stat.Interval(falsePositives, trials, 0.95)
	return observed, low, high
}

// Holds reports whether an observation agrees with a promised rate. It is false if a filter with the promised rate
// would have this many or more false positives with a probability below 1 in 10,000.
func Holds(falsePositives, trials uint64, promised float64) bool {
	return stat.UpperTail(falsePositives, trials, promised) >= 1e-4
}

// HoldsChosen reports whether an observation agrees with the chosen rate of a filter with that Info, by the test of
// Holds. While the filter has not Exceeded its chosen rate, its FPRPosterior, which can be higher in a filter of few
// keys, is allowed too. HoldsChosen is true if no rate was chosen.
func HoldsChosen(falsePositives, trials uint64, i filter.Info) bool {
	allowed := i.FPRChosen
	if !i.Exceeded() {
		allowed = max(allowed, i.FPRPosterior)
	}
	return i.FPRChosen == 0 || Holds(falsePositives, trials, allowed)
}
