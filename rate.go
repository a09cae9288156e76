package bloomery

import (
	"iter"
	"slices"
	"strconv"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
)

// chosenFPR returns the rate to store with a new set of that number of keys, see Config.FPRChosen.
func (c Config) chosenFPR(f families.Family, s filter.Spec, keys uint64, set *Set) float64 {
	r := s.Reader()
	size, room := filter.ReadSizing(r), r.Uint("capacity")
	switch {
	case c.FPRChosen != 0:
		return c.FPRChosen
	case size.FPR != 0:
		return size.FPR
	case size.Bytes != 0 || slices.ContainsFunc(f.Sizes, s.Has):
		return 0
	case size.BitsPerKey == 0 && f.DefaultFPR != 0:
		return f.DefaultFPR
	}
	keys = max(keys, room)
	if keys == 0 {
		return 0
	}
	var fpr float64
	var err error
	if f.Can.Has(filter.CanSearch) && !s.Has(filter.LaterParameter.Name) {
		fpr = set.Info().FPRPosterior // a forecast would take a search of its own
	} else if _, fpr, err = f.Forecast(set.Spec(), keys); err != nil { // no size needs to be found again
		_, fpr, err = f.Forecast(s, keys) // the family does not build from the Spec of a filter
	}
	if err != nil || !(fpr > 0 && fpr <= filter.UselessFPR) {
		return 0
	}
	return threeDigits(fpr)
}

// threeDigits rounds, so that a forecast is the same number on machines whose floating-point results differ slightly.
func threeDigits(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // parses what was formatted
	return v
}

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
