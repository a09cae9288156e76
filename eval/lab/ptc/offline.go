package ptc

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
)

// offlineRows is Table 3, without the rows of the standard filter, which are in Table 1.
var offlineRows = []publishedRow{
	{choice{8, 2, 7, 10}, 1.505e-2}, {choice{8, 2, 8, 15}, 1.485e-2},
	{choice{8, 3, 8, 30}, 1.237e-2}, {choice{8, 3, 8, 40}, 1.222e-2},
	{choice{16, 2, 14, 10}, 2.259e-4}, {choice{16, 2, 14, 15}, 2.223e-4},
	{choice{16, 3, 15, 30}, 1.604e-4}, {choice{16, 3, 15, 40}, 1.582e-4},
	{choice{32, 2, 26, 10}, 6.260e-8}, {choice{32, 2, 26, 15}, 6.143e-8},
	{choice{32, 3, 27, 30}, 3.579e-8}, {choice{32, 3, 27, 40}, 3.525e-8},
}

// beyond lists settings for the search of the family twochoice, which has noise and shifted groups: the settings of the
// best rows of Table 3, and more choices.
var beyond = []choice{
	{8, 2, 8, 15}, {8, 3, 9, 40}, {8, 3, 9, 200}, {8, 4, 9, 200}, {8, 8, 10, 200}, {8, 16, 11, 200},
	{16, 2, 14, 15}, {16, 3, 15, 40}, {16, 3, 15, 200}, {16, 8, 18, 200},
	{32, 2, 26, 15}, {32, 3, 28, 40}, {32, 3, 28, 200},
}

// table3 reproduces the offline table and compares it with the family twochoice.
var table3 = experiment.Experiment{
	Name: "ptc-table3", Source: Paper + ", Table 3 and section 3.2",
	Varies: "bits per key, choices, rounds, noise; all keys at once", Run: runTable3, Seconds: 120, FullOnly: true,
}

func runTable3(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(200)
	n, more := 10_000, min(20, c.Trials)
	if c.Quick {
		n = 1000
	}
	var all, curves float64 // the work, in positions read
	for _, p := range offlineRows {
		all += p.cost(n) * float64(2*c.Trials)
	}
	for _, x := range beyond {
		all += x.cost(n) * float64(more)
	}
	lengths := []int{1, 2, 4, 7, 10, 15, 25, 40, 64, 100, 160, 250}
	for _, rounds := range lengths {
		curves += choice{8, 2, 8, rounds}.cost(n) + 2*choice{8, 3, 9, rounds}.cost(n) + choice{8, 8, 10, rounds}.cost(n)
	}
	few := min(6, c.Trials)
	larger := []publishedRow{offlineRows[0], offlineRows[2], offlineRows[6]}
	for _, p := range larger {
		all += p.cost(10*n) * float64(few)
	}
	w := c.Work(all + curves*float64(few))
	best := map[float64]float64{} // the lowest rate of Table 3 by bits per key
	for _, by := range []construction{independent, double} {
		for _, p := range offlineRows {
			fills, err := p.choice.offline(ctx, c, w, n, c.Trials, by)
			if err != nil {
				return result, err
			}
			rates := experiment.Values(fills, p.choice.rate)
			label := fmt.Sprintf("%s, %d rounds", p, p.rounds)
			if by == double {
				result.Add(figure.Mean(label+", double hashing", rates).
					Noted("by the share of ones; the paper: \"nearly the same\"; %s",
						p.coincide(figure.Mean("", fills).Measured, n)))
				continue
			}
			result.Add(p.mean(c, label, n, rates))
			best[p.bits] = p.rate
			if x, ok := ranges[p.choice]; ok {
				result.Add(extremes(c, p.String(), rates, x)...)
			}
		}
	}
	for _, p := range larger { // "similar results were obtained with experiments with 100,000 elements"
		fills, err := p.choice.offline(ctx, c, w, 10*n, few, independent)
		if err != nil {
			return result, err
		}
		r := p.mean(c, fmt.Sprintf("%s, %d rounds, n = %d", p, p.rounds, 10*n), 10*n,
			experiment.Values(fills, p.choice.rate))
		if !c.Quick {
			r = r.Noted("the text: \"similar results\"; %d trials", few)
		}
		result.Add(r)
	}
	for _, x := range beyond {
		fills, err := x.offline(ctx, c, w, n, more, shifted)
		if err != nil {
			return result, err
		}
		name := fmt.Sprintf("%s, %d rounds with noise, shifted groups", x, x.rounds)
		r := figure.Mean(name, experiment.Values(fills, x.rate))
		result.Add(r.Noted("%.2f of the best of Table 3 at this size, of %d trials", r.Measured/best[x.bits], more))
	}
	plot := figure.Plot{
		Name: "ptc-table3", Title: fmt.Sprintf("All keys at once, 8 bits per key, n = %d", n),
		X: "rounds", Y: "false positive rate", LogX: true, LogY: true,
	}
	for _, curve := range []struct {
		c, k int
		by   construction
	}{{2, 8, independent}, {3, 8, independent}, {3, 9, shifted}, {8, 10, shifted}} {
		line := figure.Curve{Name: fmt.Sprintf("c = %d, k = %d", curve.c, curve.k)}
		if curve.by == shifted {
			line.Name += ", shifted, with noise"
		}
		for _, rounds := range lengths {
			x := choice{8, curve.c, curve.k, rounds}
			fills, err := x.offline(ctx, c, w, n, few, curve.by)
			if err != nil {
				return result, err
			}
			line.AddPoint(float64(rounds), figure.Mean("", experiment.Values(fills, x.rate)).Measured)
		}
		plot.Curves = append(plot.Curves, line)
	}
	theirs := figure.Curve{Name: "published", Dots: true}
	for _, p := range offlineRows[:4] {
		theirs.AddPoint(float64(p.rounds), p.rate)
	}
	plot.Curves = append(plot.Curves, theirs, figure.Level("standard filter", 1, 2.159e-2))
	result.Plots = []figure.Plot{plot}
	result.Notes = []string{
		"A search with noise adds random costs to the groups of a key, smaller ones in each round; see " +
			"docs/families/twochoice.md.",
		toleranceNote,
	}
	return result, nil
}
