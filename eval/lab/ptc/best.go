package ptc

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
)

// optimum returns the fewest ones that cover all keys, by an exhaustive search that leaves out choices with at least
// atMost ones. With k = 1 and c = 2 it is the size of a minimum vertex cover: bits are vertices and keys are edges.
func (x choice) optimum(all []uint32, atMost int) int {
	n, best := len(all)/(x.c*x.k), atMost
	count := make([]uint16, int(x.bits*float64(n)))
	var choose func(key, ones int)
	choose = func(key, ones int) {
		if ones >= best {
			return
		}
		if key == n {
			best = ones
			return
		}
		for g := range x.c {
			group := all[(key*x.c+g)*x.k:][:x.k]
			after := ones
			for _, p := range group {
				if count[p]++; count[p] == 1 {
					after++
				}
			}
			choose(key+1, after)
			for _, p := range group {
				count[p]--
			}
		}
	}
	choose(0, 0)
	return best
}

// optima compares the search of the paper with the optimum, which can be found for a few keys only.
var optima = experiment.Experiment{
	Name: "ptc-best", Source: Paper + ", section 3.2: the optimum",
	Varies: "keys; bits per key, choices, k", Run: runOptima, Seconds: 4,
}

func runOptima(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(400)
	trials := c.Size(c.Trials, 10*c.Trials) // few keys are fast
	sizes := []int{4, 6, 8, 10, 12, 14}
	if c.Quick {
		sizes = sizes[:5]
	}
	settings := []choice{{8, 2, 7, 15}, {8, 3, 7, 40}, {16, 2, 13, 15}, {1.5, 2, 1, 15}}
	plot := figure.Plot{Name: "ptc-best", Title: "Ones after the paper's search, relative to the optimum", X: "keys",
		Y: "ones / fewest possible ones"}
	w := c.Work(float64(len(sizes) * len(settings)))
	for _, x := range settings {
		name := x.String()
		if x.k == 1 {
			name += " (vertex cover)"
		}
		online, searched := figure.Curve{Name: name + ", one by one"}, figure.Curve{Name: name + ", search"}
		for _, n := range sizes {
			compare := func(ctx context.Context, trial int) ([]float64, error) {
				r := rand.New(rand.NewPCG(c.Seed, uint64(trial)))
				all := x.draw(r, n)
				one, more := x.search(r, all, 1), x.search(r, all, x.rounds)
				best := x.optimum(all, min(one, more))
				found := 0.0
				if more == best {
					found = 1
				}
				return []float64{float64(one) / float64(best), float64(more) / float64(best), found}, ctx.Err()
			}
			counts, err := experiment.Each(ctx, w, 1/float64(trials), trials, compare)
			if err != nil {
				return result, err
			}
			columns := experiment.Columns(counts)
			label := fmt.Sprintf("%s, n = %d: ", name, n)
			first := figure.Mean(label+"ones one by one / optimum", columns[0])
			last := figure.Mean(label+"ones after the search / optimum", columns[1])
			online.AddPoint(float64(n), first.Measured)
			searched.AddPoint(float64(n), last.Measured)
			found := figure.Mean("", columns[2]).Measured
			result.Add(first, last.Noted("%d rounds; %.0f%% of the searches find the optimum", x.rounds, 100*found))
		}
		if x.bits == 8 && x.c == 2 {
			plot.Curves = append(plot.Curves, online)
		}
		plot.Curves = append(plot.Curves, searched)
	}
	result.Plots = []figure.Plot{plot}
	result.Notes = []string{
		"The optimum is found by trying all choices of all keys, for up to 14 keys. The paper shows that the problem is " +
			"NP-hard for k = 1, where it is minimum vertex cover, and compares with no optimum. For many keys the distance " +
			"is not known; the search with noise of ptc-table3 reaches lower rates.",
	}
	return result, nil
}
