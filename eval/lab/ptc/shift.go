package ptc

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/twochoice"
)

// shift answers the last question of the paper, whether dependent groups do as well: the groups of the family twochoice
// are shifts of one another.
var shift = experiment.Experiment{
	Name: "ptc-shift", Source: Paper + ", section 4",
	Varies: "bits per key, choices; dependent groups", Run: runShift, Seconds: 4,
}

func runShift(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(20)
	n := c.Size(10_000, 2000)
	settings := []struct {
		choice
		goal float64 // for the shifted groups
	}{
		{choice{8, 2, 7, 1}, 0}, {choice{8, 3, 7, 1}, 0}, {choice{16, 3, 13, 1}, 3.5e-4}, {choice{16, 8, 16, 1}, 3.0e-4},
		{choice{32, 3, 25, 1}, 0}, {choice{32, 8, 28, 1}, 6e-8},
	}
	constructions := []construction{independent, shifted}
	rate, reads := figure.Curve{Name: "rate", Dots: true}, figure.Curve{Name: "reads of an absent key", Dots: true}
	var names []string
	w := c.Work(float64(len(settings) * len(constructions) * c.Trials))
	for i, x := range settings {
		names = append(names, fmt.Sprintf("%g bits\nc = %d", x.bits, x.c))
		var base, baseReads float64 // of independent groups
		for _, by := range constructions {
			rates, err := x.online(ctx, c, w, 0.5, n, c.Trials, by,
				func(f experiment.Growing, _ int) float64 { return x.rate(f.Info().Fill) })
			if err != nil {
				return result, err
			}
			probes, err := x.online(ctx, c, w, 0.5, n, c.Trials, by,
				func(f experiment.Growing, trial int) float64 { return meanReads(f, c.Hashes(n, trial+1<<30)) })
			if err != nil {
				return result, err
			}
			read := figure.Mean("", probes)
			r := figure.Mean(fmt.Sprintf("%s, %s groups", x, by), rates)
			note := ""
			if by == shifted && x.goal > 0 {
				note = fmt.Sprintf("; goal: at most %.2g", x.goal)
			}
			result.Add(r.Noted("%.2f reads of an absent key%s", read.Measured, note))
			if by == independent {
				base, baseReads = r.Measured, read.Measured
				continue
			}
			rate.AddRatio(float64(i+1), r, base)
			reads.AddRatio(float64(i+1), read, baseReads)
		}
	}
	result.Plots = []figure.Plot{{
		Name: "ptc-shift", Title: fmt.Sprintf("Shifted groups relative to independent groups, n = %d", n),
		X: "bits per key, choices", Y: "shifted / independent", Names: names,
		Curves: []figure.Curve{rate, reads, figure.Level("independent groups", 1, 1)},
	}}
	return result, nil
}

// meanReads returns the mean number of places that a query for one of these absent keys reads.
func meanReads(f experiment.Growing, hs []filter.Hash) float64 {
	sum := 0
	for _, h := range hs {
		switch f := f.(type) {
		case *paper:
			reads, _ := f.probes(h)
			sum += reads
		case *twochoice.Filter:
			sum += f.Probes(h)
		}
	}
	return float64(sum) / float64(len(hs))
}
