// Package plan tells what a filter would cost before anybody builds it: bits, bits a key and the predicted rate of each
// family for a number of keys, from the families' own formulas and searches of samples.
package plan

import (
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

// Row is the forecast of one filter.
type Row struct {
	Spec       filter.Spec `json:"spec"`
	Keys       uint64      `json:"keys"`
	Bits       uint64      `json:"bits"`
	BitsPerKey float64     `json:"bits_per_key"`
	FPRPrior   float64     `json:"fpr_prior"`
	// Problem says why this family cannot do it; the numbers are then 0.
	Problem string `json:"problem,omitempty"`
}

// Forecast returns the row of one spec.
func Forecast(s filter.Spec, keys uint64) Row {
	row := Row{Spec: s, Keys: keys}
	family, err := families.ByName(s.Family())
	if err == nil {
		row.Bits, row.FPRPrior, err = family.Forecast(s, keys)
	}
	if err != nil {
		row.Problem = err.Error()
		return row
	}
	row.BitsPerKey = float64(row.Bits) / float64(max(keys, 1))
	return row
}

// WithSize returns the spec with the parameter of a size, or as it is if no size is set.
func WithSize(s filter.Spec, size filter.Sizing) filter.Spec {
	switch {
	case size.BitsPerKey != 0:
		return s.With("bits_per_key", size.BitsPerKey)
	case size.FPR != 0:
		return s.With("fpr", size.FPR)
	case size.Bytes != 0:
		return s.With("bytes", size.Bytes)
	}
	return s
}
