package engine

import (
	"slices"
	"strconv"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// ChosenFPR returns the false-positive rate that Spec s of a family chooses for e, a new filter of that number of keys:
// the rate in s, or for a size in bits per key the rate forecast for the keys, or for the capacity, to three digits, if
// it is at most filter.UselessFPR; else 0.
func ChosenFPR(e Engine, f families.Family, s filter.Spec, keys uint64) float64 {
	r := family.Reader(s)
	size, room := family.ReadSizing(r), r.Uint("capacity")
	switch {
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
	if f.Can.Has(family.CanSearch) && !s.Has(family.LaterParameter.Name) {
		fpr = e.Info().FPRPosterior // a forecast would take a search of its own
	} else if _, fpr, err = f.Forecast(e.Spec(), keys); err != nil { // no size needs to be found again
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

// CheckShards returns a *filter.RateError if the false-positive rate of a sharded set exceeds most by the rules of
// filter.Info.Exceeds, and nil if most is 0.
func CheckShards(m *shard.Manifest, most float64) error {
	info := filter.Info{Spec: m.Spec, Keys: m.Keys()}
	info.FPRPrior, info.FPRPosterior = m.FPR()
	if f, err := families.FormatOf(m.Spec.Family()); err == nil && f.Can.Has(family.CanSearch) {
		info.FillSearched = 1 // the posterior rate decides alone
	}
	return info.CheckFPR(most)
}
