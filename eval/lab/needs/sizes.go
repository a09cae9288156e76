package needs

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// sizes plots the sizes of our filters beside the sizes of well-known filters.
var sizes = experiment.Experiment{
	Name: "sizes", Source: "README.md", Varies: "false-positive rate, kind of filter", Run: runSizes, Seconds: 1,
}

// sizeKeys is the number of keys of the filters.
const sizeKeys = 1_000_000

// curves are the kinds of filters in the order of the legend, largest first.
var curves = []struct {
	name string
	bits func(rate float64) float64 // bits per key; NaN if the filter does not exist
}{
	{"standard (Bloom filter)", forecast("standard")},
	// Fan, Andersen, Kaminsky and Mitzenmacher, CoNEXT 2014: buckets of 4 entries, 95.5% full.
	{"cuckoo filter", func(rate float64) float64 { return (math.Log2(1/rate) + 3) / 0.955 }},
	{"rankindexed (keys can be removed)", forecast("rankindexed")},
	// Graf and Lemire, JEA 25, 2020.
	{"XOR filter", func(rate float64) float64 { return 1.23*math.Log2(1/rate) + 32.0/sizeKeys }},
	// Graf and Lemire, JEA 27, 2022: three segments. Family fuse builds this filter, with a whole number of bits per
	// fingerprint.
	{"fuse (binary fuse filter)", func(rate float64) float64 { return 1.125 * math.Log2(1/rate) }},
	{"ribbon", forecast("ribbon")},
}

// forecast returns the bits per key of a family by the planner's forecast.
func forecast(family string) func(rate float64) float64 {
	return func(rate float64) float64 {
		s, err := filter.ParseSpec(family)
		if err != nil {
			return math.NaN()
		}
		c := plan.Forecast(s.With("fpr", rate), sizeKeys)
		if c.Problem != "" {
			return math.NaN()
		}
		return c.BitsPerKey
	}
}

func runSizes(_ context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1)
	drawn := make([]figure.Curve, len(curves))
	for i, kind := range curves {
		drawn[i].Name = kind.name
		for e := 4; e <= 16; e++ { // from 10% to 0.01%
			rate := math.Pow(10, -float64(e)/4)
			drawn[i].AddPoint(rate, kind.bits(rate))
		}
		for _, rate := range []float64{0.01, 0.001} {
			label := fmt.Sprintf("%s, %g%%", kind.name, 100*rate)
			result.Add(figure.Exact(label, kind.bits(rate)).Noted("%.2f bits above the smallest possible size",
				kind.bits(rate)-math.Log2(1/rate)))
		}
		c.Progress(float64(i+1) / float64(len(curves)))
	}

	bound := figure.Curve{Name: "smallest possible", Bound: true}
	for _, rate := range []float64{0.1, 0.0001} {
		bound.AddPoint(rate, math.Log2(1/rate))
	}
	result.Plots = []figure.Plot{{
		Name: "sizes", Title: "Size of a filter of a million keys", X: "false-positive rate", Y: "bits per key", LogX: true,
		Curves: append(drawn, bound),
	}}
	result.Notes = []string{
		"Sizes of our families are forecasts of the planner, which tests compare with filters. Sizes of XOR, binary fuse " +
			"and cuckoo filters are the formulas of their papers, with fractional bits, as if a fingerprint could have any " +
			"length: implementations have fingerprints of 8, 16 or 32 bits.",
	}
	return result, nil
}
