package lab

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/family/partitioned"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
)

// phAnneal shows the rate after every pass of short and long searches.
var phAnneal = Experiment{
	Name: "ph-anneal", Source: "docs/partitioned.md", Varies: "passes of a search", Run: runAnneal,
}

func runAnneal(ctx context.Context, c Config) (Result, error) {
	result := c.begin(5)
	n, lengths := 10_000, []int{24, 64, 300, 2500}
	if c.Quick {
		n, lengths = 2000, []int{24, 64}
	}
	plot := Plot{
		Name: "ph-anneal", Title: fmt.Sprintf("Rate after each pass, 8 bits a key, n = %d", n),
		X: "pass", Y: "false positive rate", LogX: true, LogY: true,
	}
	for i, passes := range lengths {
		var ends []float64
		for trial := range c.Trials {
			rates, err := partitioned.Trace(ctx, partitioned.Config{Effort: filter.Effort{Passes: passes}}, c.hashes(n, trial))
			if err != nil {
				return result, err
			}
			ends = append(ends, rates[len(rates)-1])
			if trial == 0 {
				curve := Curve{Name: fmt.Sprintf("%d passes", passes)}
				for p, r := range rates {
					curve.Points = append(curve.Points, [2]float64{float64(p + 1), r})
				}
				plot.Curves = append(plot.Curves, curve)
			}
			c.Progress((float64(i) + float64(trial+1)/float64(c.Trials)) / float64(len(lengths)))
		}
		mean, low, high := stat.MeanInterval(ends)
		result.Rows = append(result.Rows, Row{Label: fmt.Sprintf("%d passes", passes), Measured: mean, Low: low, High: high})
	}
	plot.Curves = append(plot.Curves, Curve{Name: "published search", Level: true, Points: [][2]float64{{1, 0.0098}}},
		Curve{Name: "standard", Level: true, Points: [][2]float64{{1, 0.0216}}})
	result.Plots = []Plot{plot}
	return result, nil
}
