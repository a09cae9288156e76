// Package ph contains the experiments on partitioned hashing: F. Hao, M. Kodialam and T. V. Lakshman, "Building high
// accuracy Bloom filters using partitioned hashing", SIGMETRICS 2007.
//
// Letters are as in the paper: n keys, m bits, g groups, H functions to choose from, k functions a group, t tries; p_b
// is the predicted rate of a standard filter, p_a the rate of a built filter from its fill, p_o an observed rate.
package ph

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/family/partitioned"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{
		fig1, fig2, fig3, fig4, fig5, fig6, fig7, fig8, fig10, fig11, table1, fig12, fig13, fig14, lateKeys,
		optimum, unequal, chosen, paths, annealing, buildTime,
	}
}

// annealing measures the rate after every pass of short and long searches.
var annealing = experiment.Experiment{
	Name: "ph-anneal", Source: "docs/families/partitioned.md", Varies: "passes of a search", Run: runAnneal, Seconds: 3,
}

func runAnneal(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(5)
	n, lengths := 10_000, []int{24, 64, 300, 2500}
	if c.Quick {
		n, lengths = 2000, []int{24, 64}
	}
	plot := figure.Plot{
		Name: "ph-anneal", Title: fmt.Sprintf("Rate after each pass, 8 bits per key, n = %d", n),
		X: "pass", Y: "false positive rate", LogX: true, LogY: true,
	}
	all := 0
	for _, passes := range lengths {
		all += passes * c.Trials
	}
	w := c.Work(float64(all))
	for _, passes := range lengths {
		trials, err := experiment.Each(ctx, w, float64(passes), c.Trials,
			func(ctx context.Context, i int) ([]float64, error) {
				return rates(ctx, passes, c.Hashes(n, i))
			})
		if err != nil {
			return result, err
		}
		ends := experiment.Values(trials, func(t []float64) float64 { return t[len(t)-1] })
		curve := figure.Curve{Name: fmt.Sprintf("%d passes", passes)}
		for p, r := range trials[0] {
			curve.AddPoint(float64(p+1), r)
		}
		plot.Curves = append(plot.Curves, curve)
		result.Add(figure.Mean(curve.Name, ends))
	}
	plot.Curves = append(plot.Curves, figure.Level("published search", 1, 0.0098), figure.Level("standard", 1, 0.0216))
	result.Plots = []figure.Plot{plot}
	return result, nil
}

// rates builds a filter of one shard and returns its rate f^k after each pass, f being the fill.
func rates(ctx context.Context, passes int, hs []filter.Hash) (all []float64, err error) {
	watched := anneal.Watch(ctx, func(s *anneal.State) { all = append(all, s.Rate()) })
	b, err := partitioned.NewBuilder(partitioned.Config{Effort: filter.Effort{Passes: passes}, Workers: 1})
	_, err = experiment.Build(watched, b, err, hs)
	return all, err
}
