// Package plan finds the filter for your needs before you build one: it forecasts size, false-positive rate and times
// of every family, and ranks the filters that meet the needs.
//
//	p, err := plan.For(ctx, plan.Needs{Keys: 1_000_000, FPR: 0.001, Remove: true})
//	fmt.Println(p.Choices[0].Spec, p.Choices[0].BitsPerKey)
//
// To build what a plan names, set bloomery.Config.Spec to the Spec of a [Choice]. Or set bloomery.Config.Needs to the
// needs. [Forecast] forecasts one Spec. The page on [families] compares them.
//
// Sizes and rates come from the formulas of the families, or from the tables of families that search. Times come from a
// table that was measured on one machine; other machines are faster or slower, with similar ratios.
//
// [families]: https://github.com/bloomery/bloomery/blob/main/docs/families/README.md
package plan

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
)

// Row is the forecast of one filter: its size, and its predicted false-positive rate in [0, 1] once Keys keys are in
// it.
type Row struct {
	Spec       filter.Spec `json:"spec"`
	Keys       uint64      `json:"keys"`
	Bits       uint64      `json:"bits"`
	BitsPerKey float64     `json:"bits_per_key"`
	FPRPrior   float64     `json:"fpr_prior"`
	// Problem is the reason why there is no such filter, or "". With a Problem the numbers are 0.
	Problem string `json:"problem,omitempty"`
}

// Forecast returns the forecast of a spec for a number of keys. It takes about a millisecond.
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
