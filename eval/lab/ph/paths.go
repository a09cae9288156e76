package ph

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
)

// paths measures whether the rate is a function of t^g, the number of sample paths of section 4.
var paths = experiment.Experiment{
	Name: "ph-paths", Source: Paper + ", section 4 on t^g",
	Varies: "groups and tries at the same number t^g of sample paths", Run: runPaths, Seconds: 1,
}

func runPaths(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(20)
	rate := func(fill float64) float64 { return math.Pow(fill, bruteK) }
	effect := func(g, t int) float64 { // the variable on which the rate depends
		a := paper.MostNormal(float64(t))
		return float64(g) * a * a
	}

	// At the same t^g.
	for _, e := range []struct {
		power  float64
		groups []int
	}{{50, []int{25, 50, 167}}, {100, []int{20, 50, 125, 333}}, {200, []int{40, 100, 200, 664}}} {
		var rates []float64
		for _, g := range e.groups {
			t := int(math.Round(math.Pow(10, e.power/float64(g))))
			rates = append(rates, paper.GroupFPR(bruteKeys, bruteBits, bruteK, g, t))
			result.Add(figure.Exact(fmt.Sprintf("p_a, t^g = 10^%g, g = %d, t = %d", e.power, g, t), rates[len(rates)-1]).
				Noted("t^g = 10^%.1f, g·a² = %.0f; as printed, the recurrence gives %.4f",
					float64(g)*math.Log10(float64(t)), effect(g, t),
					rate(paper.GroupFillPublished(bruteKeys, bruteBits, bruteK, g, t))))
		}
		result.Add(figure.Exact(fmt.Sprintf("highest to lowest p_a at t^g = 10^%g", e.power),
			slices.Max(rates)/slices.Min(rates)))
	}

	title := fmt.Sprintf("n = %d, m = %d, k = %d", bruteKeys, bruteBits, bruteK)
	byPaths := figure.Plot{
		Name: "ph-paths", Title: "Not a function of t^g: " + title, X: "log10(t^g)", Y: "p_a", LogX: true, LogY: true,
	}
	byEffect := figure.Plot{
		Name: "ph-paths-normal", Title: "A function of g·a(t)²: " + title, X: "g·a(t)²", Y: "p_a", LogX: true, LogY: true,
	}
	limit := figure.Curve{Name: "normal limit", Bound: true}
	for x := 1.; x <= 1500; x *= 1.25 {
		limit.AddPoint(x, rate(paper.GroupFillNormal(bruteKeys, bruteBits, bruteK, x)))
	}
	farthest, tries := 0.0, []int{2, 10, 100, 10_000}
	for _, t := range tries {
		one, other := figure.Curve{Name: fmt.Sprintf("t = %d", t)}, figure.Curve{Name: fmt.Sprintf("t = %d", t)}
		for _, g := range []int{5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 225, 320, 450, 640, 1000} {
			if x := effect(g, t); x <= 1500 {
				p := paper.GroupFPR(bruteKeys, bruteBits, bruteK, g, t)
				one.AddPoint(float64(g)*math.Log10(float64(t)), p)
				other.AddPoint(x, p)
				normal := rate(paper.GroupFillNormal(bruteKeys, bruteBits, bruteK, x))
				farthest = max(farthest, math.Abs(math.Log(p/normal)))
			}
		}
		byPaths.Curves, byEffect.Curves = append(byPaths.Curves, one), append(byEffect.Curves, other)
	}
	result.Add(figure.Exact("farthest p_a from its normal limit at the same g·a², a ratio", math.Exp(farthest)).
		Noted("t = %s, g of 5 to 1000, g·a² of up to 1500", numbers(tries)))

	// Simulations at nearly the same g·a².
	simulated := figure.Curve{Name: "simulation", Dots: true}
	pairs := [][2]int{{500, 2}, {116, 5}, {66, 10}, {25, 100}} // g and t
	w := c.Work(float64(len(pairs) * c.Trials))
	for _, p := range pairs {
		g, t := p[0], p[1]
		rates, err := experiment.Each(ctx, w, 1, c.Trials, func(_ context.Context, i int) (float64, error) {
			source := rand.NewPCG(c.Seed, uint64(i)<<32|uint64(g<<16|t))
			return rate(fewest(bruteKeys, bruteBits, bruteK, g, t, source)[g-1]), nil
		})
		if err != nil {
			return result, err
		}
		r := figure.Mean(fmt.Sprintf("p_a, g = %d, t = %d, simulation", g, t), rates).
			Noted("g·a² = %.1f, t^g = 10^%.0f", effect(g, t), float64(g)*math.Log10(float64(t)))
		result.Add(r)
		simulated.Add(effect(g, t), r)
	}
	byEffect.Curves = append(byEffect.Curves, simulated, limit)
	result.Plots = []figure.Plot{byPaths, byEffect}
	result.Notes = []string{
		"The best of t groups of b·k throws sets b·k·(1-f) - a(t)·sqrt(b·k·f(1-f)) new bits, where a(t) is the mean of " +
			"the largest of t standard normal numbers. Over g groups this gives df/dx = (kn/m)(1-f) - " +
			"sqrt(g·a²·kn·f(1-f))/m, which depends on g and t only by g·a(t)².",
		"a(t)² is 0.32 for t = 2, 6.3 for t = 100, and about 2·ln t for very large t. Only there is g·a² = 2·ln(t^g) a " +
			"function of t^g. The same number of paths is worth more in few groups with many tries each: 0.23 of the " +
			"limit at t = 2, 0.68 at t = 100, 0.83 at t = 10^5.",
	}
	return result, nil
}
