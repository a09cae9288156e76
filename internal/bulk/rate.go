package bulk

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
)

// Rate is an observed false-positive rate: the number of false positives among Trials absent keys.
type Rate struct {
	Trials, FalsePositives uint64
	Observed               float64 // FalsePositives / Trials, 0 without trials
	Low, High              float64 // the exact 95% interval (Clopper and Pearson) of the true rate
}

// NewRate returns the rate of that many false positives among trials absent keys.
func NewRate(falsePositives, trials uint64) Rate {
	r := Rate{Trials: trials, FalsePositives: falsePositives}
	if trials > 0 {
		r.Observed = float64(falsePositives) / float64(trials)
	}
	r.Low, r.High = stat.Interval(falsePositives, trials, 0.95)
	return r
}

// Holds reports whether the observation agrees with a promised rate. It is false if a filter with the promised rate
// would have this many or more false positives with a probability below 1 in 10,000.
func (r Rate) Holds(promised float64) bool {
	return stat.UpperTail(r.FalsePositives, r.Trials, promised) >= 1e-4
}

// HoldsChosen reports whether the observation agrees with the chosen rate of a filter with that Info, by the test of
// Holds. While the filter has not Exceeded its chosen rate, its FPRPosterior, which can be higher in a filter of few
// keys, is allowed too. HoldsChosen is true if no rate was chosen.
func (r Rate) HoldsChosen(i filter.Info) bool {
	allowed := i.FPRChosen
	if !i.Exceeded() {
		allowed = max(allowed, i.FPRPosterior)
	}
	return i.FPRChosen == 0 || r.Holds(allowed)
}
