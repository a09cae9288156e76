package ph

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
)

// In Figures 5 to 7, each group tries t sets of functions, at n=1000, m=8000, k=6. The bits that store the choices do
// not count.

// onlyCurves is the note of figures without published numbers.
const onlyCurves = "The paper gives the figure only as curves, without all of their parameters. The rows are ours."

// fig5 measures the fill after each group.
var fig5 = experiment.Experiment{
	Name: "ph-fig5", Source: Paper + ", figure 5", Varies: "groups that are in", Run: runGrowth,
	Seconds: 1,
}

func runGrowth(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(50)
	const t = 100
	groups := []int{10, 50, 200}
	w := c.Work(float64(len(groups) * c.Trials))
	for _, g := range groups {
		runs, err := experiment.Each(ctx, w, 1, c.Trials, func(_ context.Context, i int) ([]float64, error) {
			return fewest(bruteKeys, bruteBits, bruteK, g, t, rand.NewPCG(c.Seed, uint64(i*bruteKeys+g))), nil
		})
		if err != nil {
			return result, err
		}
		ours, published := figure.Curve{Name: "theory, throws meet"}, figure.Curve{Name: "theory as published"}
		sim := figure.Curve{Name: "simulation", Dots: true}
		ends := make([]float64, len(runs))
		for j := 1; j <= g; j++ {
			n, x := j*bruteKeys/g, float64(j)
			ours.AddPoint(x, paper.GroupFill(n, bruteBits, bruteK, j, t))
			published.AddPoint(x, paper.GroupFillPublished(n, bruteBits, bruteK, j, t))
			for i, fills := range runs {
				ends[i] = fills[j-1]
			}
			if j%max(1, g/20) == 0 {
				mean, _, _ := figure.MeanInterval(ends)
				sim.AddPoint(x, mean)
			}
		}
		result.Add(figure.Mean(fmt.Sprintf("fill, g = %d, simulation", g), ends),
			figure.Exact(fmt.Sprintf("fill, g = %d, theory, throws of a group meet", g), ours.Points[g-1][1]),
			figure.Exact(fmt.Sprintf("fill, g = %d, theory as published", g), published.Points[g-1][1]).
				Noted("from f_0 = 0"))
		result.Plots = append(result.Plots, figure.Plot{
			Name: fmt.Sprintf("ph-fig5-g%d", g), Title: fmt.Sprintf(
				"Fill after each group, n = %d, m = %d, k = %d, g = %d, t = %d", bruteKeys, bruteBits, bruteK, g, t),
			X: "group", Y: "fill", Curves: []figure.Curve{ours, sim, published},
		})
	}
	result.Notes = []string{onlyCurves,
		"The paper finds its prediction accurate even for few groups. It ignores collisions of the throws of a " +
			"group: with 10 groups its fill is too large. With f_1 = b/m, as printed, it would be too small, since a " +
			"group sets up to b·k bits."}
	return result, nil
}

// fig6 measures the rate by groups, with a curve for each number of tries; fig7 by tries, with a curve for each number
// of groups.
var (
	fig6 = experiment.Experiment{
		Name: "ph-fig6", Source: Paper + ", figure 6", Varies: "groups", Run: runByGroups, Seconds: 3,
	}
	fig7 = experiment.Experiment{
		Name: "ph-fig7", Source: Paper + ", figure 7", Varies: "sets of functions that a group tries",
		Run: runByTries, Seconds: 3,
	}
)

func runByGroups(ctx context.Context, c experiment.Config) (figure.Result, error) {
	tries := []int{1, 2, 10, 100, 1000}
	simulate := []int{1, 10, 50, 100, 200, 500}
	if c.Quick {
		tries, simulate = tries[:4], []int{10, 100}
	}
	var groups []int
	for g := 1; g < 500; g += max(1, g/16) {
		groups = append(groups, g)
	}
	groups = append(groups, 500)
	grid := grid{
		curves: tries, xs: groups, dots: simulate, at: func(t, g int) (int, int) { return g, t },
		curve: func(t int) string { return fmt.Sprintf("t = %d", t) },
	}
	return grid.run(ctx, c, figure.Plot{
		Name: "ph-fig6", Title: fmt.Sprintf("Rate and groups, n = %d, m = %d, k = %d", bruteKeys, bruteBits, bruteK),
		X: "groups g", Y: "p_a", LogY: true,
	})
}

func runByTries(ctx context.Context, c experiment.Config) (figure.Result, error) {
	groups := []int{1, 10, 50, 100, 250}
	var tries []int
	for t := 1; t < 1000; t += max(1, t/12) {
		tries = append(tries, t)
	}
	tries = append(tries, 1000)
	simulate := []int{1, 3, 10, 30, 100, 300, 1000}
	if c.Quick {
		groups, simulate = groups[:4], []int{1, 10, 100}
	}
	grid := grid{
		curves: groups, xs: tries, dots: simulate, at: func(g, t int) (int, int) { return g, t },
		curve: func(g int) string { return fmt.Sprintf("g = %d", g) },
	}
	return grid.run(ctx, c, figure.Plot{
		Name: "ph-fig7", Title: fmt.Sprintf("Rate and tries, n = %d, m = %d, k = %d", bruteKeys, bruteBits, bruteK),
		X: "sets of functions tried, t", Y: "p_a", LogX: true, LogY: true,
	})
}

// grid holds the parameters of a plot: theory at every x of every curve, and simulation at the x in dots.
type grid struct {
	curves, xs, dots []int
	at               func(curve, x int) (g, t int)
	curve            func(curve int) string
}

func (gr grid) run(ctx context.Context, c experiment.Config, plot figure.Plot) (figure.Result, error) {
	result := c.Begin(20)
	all := 0.0
	for _, v := range gr.curves {
		for _, x := range gr.dots {
			_, t := gr.at(v, x)
			all += float64(t * c.Trials)
		}
	}
	w := c.Work(all)
	sim := figure.Curve{Name: "simulation", Dots: true}
	for _, v := range gr.curves {
		theory := figure.Curve{Name: gr.curve(v)}
		for _, x := range gr.xs {
			g, t := gr.at(v, x)
			theory.AddPoint(float64(x), paper.GroupFPR(bruteKeys, bruteBits, bruteK, g, t))
		}
		plot.Curves = append(plot.Curves, theory)
		for _, x := range gr.dots {
			g, t := gr.at(v, x)
			rates, err := experiment.Each(ctx, w, float64(t), c.Trials, func(_ context.Context, i int) (float64, error) {
				source := rand.NewPCG(c.Seed, uint64(i)<<32|uint64(g<<16|t))
				return math.Pow(fewest(bruteKeys, bruteBits, bruteK, g, t, source)[g-1], bruteK), nil
			})
			if err != nil {
				return result, err
			}
			r := figure.Mean(fmt.Sprintf("p_a, g = %d, t = %d, simulation", g, t), rates).
				Noted("theory %.5f", paper.GroupFPR(bruteKeys, bruteBits, bruteK, g, t))
			result.Add(r)
			sim.AddPoint(float64(x), r.Measured)
		}
	}
	plot.Curves = append(plot.Curves, sim)
	result.Plots = []figure.Plot{plot}
	result.Notes = []string{onlyCurves}
	return result, nil
}
