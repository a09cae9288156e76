package ph

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
)

// chosen compares the parameters that a forecast chooses for the construction of the paper with the published ones.
var chosen = experiment.Experiment{
	Name: "ph-choose", Source: Paper + ", section 7 (question 1)", Varies: "bits per key, functions",
	Run: runChoose, Seconds: 100,
}

func runChoose(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(2)
	n, h := c.Size(10_000, 1000), c.Size(publishedH, 64)
	w := c.Work(float64(len(bySize) * c.Trials))
	measured := figure.Curve{Name: fmt.Sprintf("measured, chosen g and k, n = %d", n), Dots: true}
	for _, t := range bySize {
		label := func(what string) string { return fmt.Sprintf("%d bits per key, %s", t.per, what) }
		p := published{n: 10_000, m: t.per * 10_000, g: t.g, h: publishedH, k: t.k}
		fill, printed := paper.GreedyFill(p.n, int(p.bits()), p.k, p.g, p.h), math.Pow(t.ph, 1/float64(p.k))
		result.Add(figure.Exact(label("forecast of the fill, published g, H, k"), fill).Against(printed, 0.015*printed).
			Noted("published: the k-th root of p_a"))

		g, k, _ := paper.ChooseGreedy(p.n, p.m, p.h)
		result.Add(
			figure.Exact(label("g chosen for n = 10000, H = 16384"), float64(g)).Against(float64(t.g), 50).
				Noted("the rate is flat near its minimum"),
			figure.Exact(label("k chosen for n = 10000, H = 16384"), float64(k)).Against(float64(t.k), 1))

		p = published{n: n, m: t.per * n, h: h}
		var forecast float64
		p.g, p.k, forecast = paper.ChooseGreedy(p.n, p.m, p.h)
		rates, err := experiment.Each(ctx, w, 1, c.Trials, func(ctx context.Context, i int) (float64, error) {
			f, err := p.search(ctx, p.random(c.Hashes(p.n, i)))
			return f.rate(), err
		})
		if err != nil {
			return result, err
		}
		r := figure.Mean(label("p_a, chosen g and k"), rates).
			Noted("g = %d, k = %d, H = %d, n = %d; forecast %.3g", p.g, p.k, p.h, p.n, forecast)
		if !c.Quick {
			r.Note += fmt.Sprintf("; published %.3g", t.ph)
		}
		result.Add(r)
		if t.per == 8 {
			measured.Add(float64(h), r)
		}
	}

	// Functions to choose from.
	best, fixed := figure.Curve{Name: "forecast, chosen g and k"}, figure.Curve{Name: "forecast, g = 250, k = 6"}
	for e := 4; e <= 24; e += c.Size(2, 5) {
		h := 1 << e
		g, k, rate := paper.ChooseGreedy(10_000, 80_000, h)
		best.AddPoint(float64(h), rate)
		result.Add(figure.Exact(fmt.Sprintf("8 bits per key, forecast of p_a, H = 2^%d", e), rate).
			Noted("g = %d, k = %d", g, k))
		p := published{n: 10_000, m: 80_000, g: publishedG, h: h, k: 6}
		fixed.AddPoint(float64(h), math.Pow(paper.GreedyFill(p.n, int(p.bits()), p.k, p.g, h), 6))
	}
	result.Plots = []figure.Plot{{
		Name: "ph-choose", Title: "Rate by functions to choose from, 8 bits per key, n = 10000",
		X: "functions H", Y: "p_a", LogX: true, LogY: true,
		Curves: []figure.Curve{best, fixed, measured,
			{Name: "published", Dots: true, Points: [][2]float64{{publishedH, 0.0098}}}},
	}}
	result.Notes = []string{
		"The forecast is the recurrence of section 4 for functions that are chosen one by one, and a fitted exponent " +
			"for the later passes. The best of a group's H functions sets few new bits, its second best a few more, " +
			"and so on.",
		"g and k follow from the forecast, and H from the time: the rate falls with H as far as anybody can search, " +
			"while a pass reads n·H positions. Sixteen times the time lowers the rate by 7% to 12%.",
	}
	return result, nil
}
