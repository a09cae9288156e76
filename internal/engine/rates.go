package engine

import (
	"fmt"
	"strconv"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/shard"
)

// PlannedFPR returns the false-positive rate that Spec s of a family chooses for e, a new filter of keys keys: the rate
// in s, or for a size in bits per key the forecast rate for the keys or the capacity, to three digits. It returns 0 for
// a size in bytes and for rates above filter.UselessFPR.
func PlannedFPR(e Engine, f families.Family, s filter.Spec, keys uint64) float64 {
	r := family.Reader(s)
	size, room := family.ReadSizing(r), r.Uint("capacity")
	switch {
	case size.FPR != 0:
		return size.FPR
	case size.Bytes != 0 || family.GivenAny(s, f.Sizes):
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
	if f.Can.Has(family.CanSearch) && !family.Given(s, family.LaterParameter.Name) {
		fpr = e.Info().FPRPosterior // a forecast would repeat the search of the build
	} else if _, fpr, err = f.Forecast(e.Spec(), keys); err != nil { // the Spec of e already has the size
		_, fpr, err = f.Forecast(s, keys) // some families cannot build from the Spec of a filter
	}
	if err != nil || !(fpr > 0 && fpr <= filter.UselessFPR) {
		return 0
	}

	// Rounding to three digits gives the same rate on machines whose floating-point results differ slightly.
	fpr, _ = strconv.ParseFloat(strconv.FormatFloat(fpr, 'g', 3, 64), 64) // a formatted number always parses
	return fpr
}

// WithRate returns s with rate as its size. If s has another size, or rate is 0, it returns s.
func WithRate(f families.Family, s filter.Spec, rate float64) (filter.Spec, error) {
	if rate == 0 {
		return s, nil
	}
	if family.Given(s, "fpr") {
		if family.Reader(s).Float("fpr") != rate {
			return s, family.Invalid("fpr", rate, "the spec %s has another rate; leave one out", s)
		}
		return s, nil
	}
	if family.Given(s, "bits_per_key") || family.Given(s, "bytes") || family.GivenAny(s, f.Sizes) {
		return s, nil
	}
	return s.With("fpr", rate), nil
}

// LowerRate returns the lower of two rates that are set, and the other one if one is 0.
func LowerRate(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// CheckForecast returns a *RateError if the rate that is forecast for a filter of Spec s with that number of keys, or
// with the capacity of s if it is more, exceeds most. It returns nil if neither number is known, or most is 0.
func CheckForecast(f families.Family, s filter.Spec, keys uint64, most float64) error {
	keys = max(keys, family.Reader(s).Uint("capacity"))
	if keys == 0 || most == 0 {
		return nil
	}

	_, fpr, err := f.Forecast(s, keys)
	if err != nil {
		return err
	}
	return CheckRate(filter.Info{Keys: keys, FPRPrior: fpr, FPRPosterior: fpr}, most)
}

// CheckShards returns a *RateError if the false-positive rate of a sharded set exceeds most by the rules of
// filter.Info.Exceeded, and nil if most is 0.
func CheckShards(m *shard.Manifest, most float64) error {
	info := filter.Info{Spec: m.Spec, Keys: m.Keys()}
	info.FPRPrior, info.FPRPosterior = m.FPR()
	if f, err := families.FormatOf(m.Spec.Family()); err == nil && f.Can.Has(family.CanSearch) {
		info.FillSearched = 1 // only the posterior rate counts for a searched filter
	}
	return CheckRate(info, most)
}

// CheckRateField returns an error unless the value of a field is a rate, or 0.
func CheckRateField(field string, rate float64) error {
	if family.ValidRate(rate) {
		return nil
	}
	zero := "for none"
	if field == "fpr" || field == "needs.fpr" {
		zero = "for the default"
	}
	return family.Invalid(field, rate, "want a rate above 0 and below 1, or 0 %s%s", zero, family.MeantRate(rate))
}

// SetPlanned sets the planned rate of e, or removes it if it is 0. It needs exclusive use.
func SetPlanned(e Engine, rate float64) error {
	if err := CheckRateField("fpr_planned", rate); err != nil {
		return err
	}
	*e.Facts().Planned = rate
	return nil
}

// CheckRate returns a *RateError if the false-positive rate of a filter exceeds most by the rules of
// filter.Info.Exceeded, and nil if most is 0.
func CheckRate(i filter.Info, most float64) error {
	i.FPRPlanned = most
	if most == 0 || !i.Exceeded() {
		return nil
	}
	return &RateError{FPR: i.FPRPosterior, Most: most, Keys: i.Keys}
}

// RateError means that a filter's false-positive rate is above the highest allowed one. It wraps filter.ErrRate.
type RateError struct {
	FPR  float64 // filter.Info.FPRPosterior of the filter
	Most float64 // the highest allowed rate
	Keys uint64  // the number of keys in the filter
}

func (e *RateError) Error() string {
	return fmt.Sprintf("with %d keys the false-positive rate is %s, above %s",
		e.Keys, stat.Percent(e.FPR), stat.Percent(e.Most))
}

func (e *RateError) Unwrap() error { return filter.ErrRate }
