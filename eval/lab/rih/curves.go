package rih

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
)

// fig5 and fig6 plot bits per key by rate, of plain and of counting filters.
var (
	fig5 = experiment.Experiment{
		Name: "rih-fig5", Source: Paper + ", figure 5", Varies: "rate", Seconds: 4,
		Run: forForm(runStorageCurves, false),
	}
	fig6 = experiment.Experiment{
		Name: "rih-fig6", Source: Paper + ", figure 6", Varies: "rate, of filters that count", Seconds: 4,
		Run: forForm(runStorageCurves, true),
	}
)

// fingerprintBits returns the lower bound for a table that stores the hashes of its keys exactly, log2(1/ε) + log2(e)
// bits per key: the table must distinguish which n of n/ε hashes it stores.
func fingerprintBits(rate float64) float64 { return math.Log2(1/rate) + math.Log2E }

func runStorageCurves(ctx context.Context, c experiment.Config, counts bool) (figure.Result, error) {
	result := c.Begin(3)
	n, absent := c.Size(paperKeys, 10_000), c.Size(1_000_000, 50_000)
	steps := c.Size(10, 1) // points for each power of ten
	var rates []float64
	for i := steps; i <= 7*steps; i++ {
		rates = append(rates, math.Pow(10, -float64(i)/float64(steps)))
	}
	ours, seen := makers(counts), []float64{1e-1, 1e-2, 1e-3, 1e-4}
	w := c.Work(float64(len(rates) + len(seen)*len(ours)*c.Trials))
	type searched struct{ word, line rankindexed.Geometry }
	sizes, err := experiment.Each(ctx, w, 1, len(rates), func(_ context.Context, i int) (s searched, err error) {
		s.word, s.line, err = searches(n, rates[i], counts)
		return s, err
	})
	if err != nil {
		return result, err
	}
	bloom, name, file := "standard", "Plain filters", "rih-fig5"
	if counts {
		bloom, name, file = "counting Bloom filter", "Filters that count", "rih-fig6"
	}
	curves := []figure.Curve{
		{Name: bloom}, {Name: "d-left"}, {Name: "rank-indexed, L ≤ 64"}, {Name: "rank-indexed, larger buckets"},
		{Name: "log2(1/ε) + 1.44"}, {Name: "log2(1/ε)"},
	}
	// the highest rate below which rank-indexed filters are always smaller than the first curve
	cross := [2]float64{}
	for i, rate := range rates {
		y := []float64{
			standardBits(rate, counts), dleftBits(rate, counts), float64(paper.RankIndexedBits(sizes[i].word)) / float64(n),
			float64(sizes[i].line.Bits()) / float64(n), fingerprintBits(rate), math.Log2(1 / rate),
		}
		for j, v := range y {
			curves[j].AddPoint(rate, v)
		}
		for j := range cross {
			switch smaller := y[2+j] < y[0]; {
			case !smaller:
				cross[j] = 0
			case cross[j] == 0:
				cross[j] = rate
			}
		}
		if i%steps != 0 {
			continue
		}
		label := func(what string) string { return fmt.Sprintf("ε = 1e-%d, %s", i/steps+1, what) }
		for j, v := range y {
			what := curves[j].Name + " by formula"
			note := fmt.Sprintf("%.2f bits above log2(1/ε)", v-y[5])
			switch j {
			case 2:
				what, note = curves[j].Name+" by section V", described(sizes[i].word)
			case 3:
				what, note = curves[j].Name+", whole words", described(sizes[i].line)
			case 4, 5:
				continue
			}
			result.Add(figure.Exact(label(what), v).Noted("%s", note))
		}
	}
	for j, what := range []string{curves[2].Name, curves[3].Name} {
		if cross[j] > 0 {
			result.Add(figure.Exact(fmt.Sprintf("rate from which on %s takes fewer bits than the %s", what, bloom), cross[j]).
				Noted("among ten rates for each power of ten, down to 1e-7; the paper has \"at or below just " +
					"0.1%%\" for plain filters"))
		}
	}
	// The points follow six curves and so have the colors of the first four.
	dots := make([]figure.Curve, len(ours))
	for j := range dots {
		dots[j] = figure.Curve{Name: curves[j].Name + ", measured", Dots: true}
	}
	for _, rate := range seen {
		for j, m := range ours {
			trials, err := fills(ctx, c, w, n, absent, func() (stored, error) { return m.empty(rate, n) })
			if err != nil {
				return result, err
			}
			rows, at := observedRows(percent(rate)+", "+m.name, rate, trials)
			result.Add(rows...)
			if at[0] > 0 {
				dots[j].Points = append(dots[j].Points, at)
			}
		}
	}
	result.Plots = []figure.Plot{{
		Name: file, Title: fmt.Sprintf("%s, n = %d", name, n), X: "false positive rate ε", Y: "bits per key", LogX: true,
		LogY: counts, Curves: append(curves, dots...),
	}}
	result.Notes = []string{
		"The paper gives the figure only as curves. Curves of the standard filter and of d-left are its formulas, " +
			"with fractional probes and bits. Curves of rank-indexed hashing are exhaustive searches: L ≤ 64 counted " +
			"as in section V, larger buckets counted in words of our structure.",
		"Points are our filters: the bytes of all arrays, and the observed rate. A remainder has whole bits, so that " +
			"most filters have a lower rate than requested.",
		"No filter of n keys takes less than log2(1/ε) bits per key. A table that stores hashes exactly, so that keys " +
			"can be removed, takes at least log2(1/ε) + 1.44.",
	}
	return result, nil
}
