// Package plank has the experiments on J. Plank's lecture notes on Bloom filters (2016): his programs findk, findinck
// and BF-tester, and his examples of 16 bits and of 100,000,000 downloads.
package plank

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/probe"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{findk, findinck, downloads, bfTester, example16bit}
}

// The table of the notes: n keys in m bits.
const (
	tableKeys = 80_000
	tableBits = 800_000
)

// halfDigit is half a unit of the last digit that findk and findinck print.
const halfDigit = 0.00005

// The output of findk and findinck, for k = 1, 2, ...
var (
	printedFull    = []float64{0.0952, 0.0329, 0.0174, 0.0118, 0.0094, 0.0084, 0.0082, 0.0085}
	printedFilling = []float64{0.0484, 0.0115, 0.0048, 0.0027, 0.0019, 0.0015, 0.0013, 0.0013, 0.0013}
)

// findk computes the rate of a full filter and measures our standard filter.
var findk = experiment.Experiment{
	Name: "plank-findk", Source: experiment.PlankNotes + ", findk 80000 800000", Varies: "k", Run: runFindk, Seconds: 2,
}

func runFindk(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(40)
	absent := c.Size(1_000_000, 100_000)
	formula, measured, ratio, err := byProbes(ctx, c, &result, tableKeys+absent, printedFull,
		func(k int) float64 { return probe.FPR(tableKeys, tableBits, k) },
		func(f *standard.Filter, hs []filter.Hash) (float64, error) {
			return experiment.Observed(f, nil, hs, tableKeys)
		})
	if err != nil {
		return result, err
	}
	formula.Name, measured.Name = "formula", "standard filter, measured (95% interval)"
	ratio.Name = measured.Name
	result.Add(figure.Exact("best k", float64(probe.OptimalK(tableKeys, tableBits))).Against(7, 0))
	result.Plots = []figure.Plot{{
		Name: "plank-findk", Title: "Rate of a full filter, n = 80,000, m = 800,000", X: "k", Y: "false positive rate",
		LogY:   true,
		Curves: []figure.Curve{formula, measured},
	}, {
		Name: "plank-findk-ratio", Title: "Measured rate as a multiple of the formula's, n = 80,000, m = 800,000",
		X: "k", Y: "measured / formula",
		Curves: []figure.Curve{ratio, figure.Level("formula", 1, 1)},
	}}
	return result, nil
}

// findinck computes and measures the mean rate while a filter fills.
var findinck = experiment.Experiment{
	Name: "plank-findinck", Source: experiment.PlankNotes + ", findinck 80000 800000", Varies: "k", Run: runFindinck,
	Seconds: 1,
}

func runFindinck(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(200)
	formula, measured, ratio, err := byProbes(ctx, c, &result, tableKeys, printedFilling,
		func(k int) float64 { return fillingFPR(tableKeys, tableBits, k) }, observedFilling)
	if err != nil {
		return result, err
	}
	formula.Name, measured.Name = "while it fills, formula", "while it fills, standard filter (95% interval)"
	ratio.Name = measured.Name
	full := figure.Curve{Name: "full, formula (findk)"}
	for k := range printedFilling {
		full.AddPoint(float64(k+1), probe.FPR(tableKeys, tableBits, k+1))
	}
	filling := figure.Plot{
		Name: "plank-filling", Title: "Rate while a filter fills, m = 800,000", X: "keys in the filter",
		Y: "false positive rate",
	}
	for _, k := range []int{2, 4, 7, 9} {
		curve := figure.Curve{Name: fmt.Sprintf("k = %d", k)}
		for i := 0; i <= tableKeys; i += tableKeys / 100 {
			curve.AddPoint(float64(i), probe.FPR(uint64(i), tableBits, k))
		}
		filling.Curves = append(filling.Curves, curve)
	}
	result.Plots = []figure.Plot{{
		Name: "plank-findinck", Title: "Mean rate over a filter's life, 0 to 79,999 keys in 800,000 bits",
		X: "k", Y: "false positive rate", LogY: true, Curves: []figure.Curve{full, formula, measured},
	}, {
		Name: "plank-findinck-ratio", X: "k", Y: "measured / formula",
		Title:  "Measured mean rate as a multiple of the formula's, 0 to 79,999 keys in 800,000 bits",
		Curves: []figure.Curve{ratio, figure.Level("formula", 1, 1)},
	}, filling}
	return result, nil
}

// byProbes compares the printed rates for k = 1, 2, ... with a formula, and the formula with our standard filter.
// observe adds the keys of a trial to an empty filter of the size of the table and returns the observed rate. The
// curves have no names.
func byProbes(
	ctx context.Context, c experiment.Config, result *figure.Result, keys int, printed []float64,
	rate func(k int) float64, observe func(f *standard.Filter, hs []filter.Hash) (float64, error),
) (formula, measured, ratio figure.Curve, err error) {
	for i, published := range printed {
		formula.AddPoint(float64(i+1), rate(i+1))
		result.Add(figure.Exact(fmt.Sprintf("k = %d, formula", i+1), rate(i+1)).Against(published, halfDigit))
	}
	one := func(ctx context.Context, trial int) ([]float64, error) {
		hs := c.Hashes(keys, trial)
		rates := make([]float64, len(printed))
		for i := range rates {
			f, err := standard.New(standard.Config{Bits: tableBits, K: i + 1})
			if err != nil {
				return nil, err
			}
			if rates[i], err = observe(f, hs); err != nil {
				return nil, err
			}
		}
		return rates, ctx.Err()
	}
	rates, err := experiment.Each(ctx, c.Work(float64(c.Trials)), 1, c.Trials, one)
	if err != nil {
		return formula, measured, ratio, err
	}

	measured.Dots, ratio.Dots = true, true
	for i, v := range experiment.Columns(rates) {
		r := figure.Mean(fmt.Sprintf("k = %d, standard filter", i+1), v)
		result.Add(r.Noted("not in the notes; the formula gives %.5f", formula.Points[i][1]))
		measured.Add(float64(i+1), r)
		ratio.AddRatio(float64(i+1), r, formula.Points[i][1])
	}
	return formula, measured, ratio, nil
}

// observedFilling queries each key before it is added.
func observedFilling(f *standard.Filter, hs []filter.Hash) (float64, error) {
	yes := 0
	for _, h := range hs {
		if f.Has(h) {
			yes++
		}
		_ = f.Add(h) // the error is always nil
	}
	return float64(yes) / float64(len(hs)), nil
}

// fillingFPR returns the mean of the rates with 0, 1, ..., n-1 keys: the rate of n keys that are queried before they
// are added.
func fillingFPR(n, m uint64, k int) (mean float64) {
	for i := range n {
		mean += probe.FPR(i, m, k)
	}
	return mean / float64(n)
}
