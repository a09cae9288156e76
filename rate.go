package bloomery

import (
	"iter"

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

// MeasureFPR queries absent keys and returns the observed rate. The keys must be distinct and absent.
func (s *Set) MeasureFPR(absent iter.Seq[[]byte]) Rate {
	var trials, hits uint64
	for k := range absent {
		trials++
		if s.Contains(k) {
			hits++
		}
	}
	return NewRate(hits, trials)
}
