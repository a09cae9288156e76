package rih

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/lab/dleft"
	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/counting"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/family/standard"
)

// table3 and table4 measure bits per key of plain and of counting filters.
var (
	table3 = experiment.Experiment{
		Name: "rih-table3", Source: Paper + ", Table III", Varies: "rate; standard, d-left, rank-indexed",
		Seconds: 6,
		Run:     forForm(runStorage, false),
	}
	table4 = experiment.Experiment{
		Name: "rih-table4", Source: Paper + ", Table IV",
		Varies: "rate; counting Bloom filter, d-left, rank-indexed", Seconds: 6,
		Run: forForm(runStorage, true),
	}
)

// standardBits returns the size of an optimal Bloom filter, log2(1/ε)/ln 2 bits per key. Its number of probes,
// log2(1/ε), is rarely whole. A counting filter has 4 bits for each bit.
func standardBits(rate float64, counts bool) float64 {
	bits := math.Log2(1/rate) / math.Ln2
	if counts {
		bits *= 4
	}
	return bits
}

// dleftBits returns the bits per key of a d-left table by section II.B: cells of log2(24/ε) bits, 8 cells for 6 keys,
// and counters of 2 bits.
func dleftBits(rate float64, counts bool) float64 {
	bits := math.Log2(24 / rate)
	if counts {
		bits += 2
	}
	return bits * 8 / 6
}

// dodged returns the x offset of the marks of curve j from a name of the axis, so that marks of several curves do not
// overlap.
func dodged(j, curves int) float64 { return 0.6 * (float64(j) - float64(curves-1)/2) / float64(curves) }

// maker makes empty filters of one kind.
type maker struct {
	name  string
	empty func(fpr float64, n int) (stored, error)
}

// makers returns our structures for the columns of the paper: plain, or with counters.
func makers(counts bool) []maker {
	bloom := maker{"standard, our structure", func(fpr float64, n int) (stored, error) {
		return standard.New(standard.Config{Keys: uint64(n), Size: family.Sizing{FPR: fpr}})
	}}
	if counts {
		bloom = maker{"counting Bloom filter, our structure", func(fpr float64, n int) (stored, error) {
			return counting.New(counting.Config{Keys: uint64(n), Size: family.Sizing{FPR: fpr}})
		}}
	}
	return []maker{bloom, {"d-left, our structure", func(fpr float64, n int) (stored, error) {
		return dleft.New(uint64(n), fpr, counts)
	}}, {"rank-indexed, L <= 64, our structure", func(fpr float64, n int) (stored, error) {
		return emptyRankIndexed(wordSized(n, fpr, counts).Plan())
	}}, {"rank-indexed, larger buckets, our structure", func(fpr float64, n int) (stored, error) {
		return emptyRankIndexed(lineSized(n, fpr, counts).Plan())
	}}}
}

// emptyRankIndexed returns an empty filter of a geometry. Its parameters are the results of Plan.
func emptyRankIndexed(g rankindexed.Geometry, err error) (*rankindexed.Filter, error) {
	if err != nil {
		return nil, err
	}
	return rankindexed.New(rankindexed.Config{Geometry: &g})
}

// forForm returns the experiment run for filters that count, or for plain ones.
func forForm(
	run func(ctx context.Context, c experiment.Config, counts bool) (figure.Result, error), counts bool,
) func(context.Context, experiment.Config) (figure.Result, error) {
	return func(ctx context.Context, c experiment.Config) (figure.Result, error) { return run(ctx, c, counts) }
}

func runStorage(ctx context.Context, c experiment.Config, counts bool) (figure.Result, error) {
	result := c.Begin(10)
	n, absent := c.Size(paperKeys, 10_000), c.Size(1_000_000, 50_000)
	ours := makers(counts)
	w := c.Work(float64(len(configs) * (len(ours) + 1) * c.Trials))
	curves := make([]figure.Curve, 4+len(ours))
	var names []string
	for i, p := range configs {
		names = append(names, p.String())
		x := float64(i + 1)
		label := func(format string, args ...any) string { return p.String() + ", " + fmt.Sprintf(format, args...) }
		printed := p.plain
		if counts {
			printed = p.counts
		}
		rate := p.rate()
		dleft := p.digits(label("d-left by formula, at the rate of the rank-indexed configuration"), printed.dleft, 0.1,
			func(p config) float64 { return dleftBits(p.rate(), counts) })
		if saved := p.savings; saved != 0 && !counts {
			dleft = dleft.Misprinted("a misprint: the column of savings of the same row, %.1f%%, corresponds to %.1f", saved,
				printed.rank/(1-saved/100))
		}
		result.Add(p.digits(label("standard by formula, at the rate of the rank-indexed configuration"),
			printed.standard, 0.1, func(p config) float64 { return standardBits(p.rate(), counts) }),
			figure.Exact(label("standard by formula, at ε itself"), standardBits(p.fpr, counts)).
				Noted("k = %.2f; the rate of the configuration is %.3g", math.Log2(1/p.fpr), rate),
			dleft,
			figure.Exact(label("d-left by formula, at ε itself, whole bits"),
				8./6*math.Ceil(dleftBits(p.fpr, counts)*6/8)).
				Noted("the example of section II.B rounds bits up, the table does not"),
			p.digits(label("rank-indexed by section V, published configuration"), printed.rank, 0.1,
				func(p config) float64 {
					return float64(paper.RankIndexedBits(p.geometry(paperKeys, counts))) / paperKeys
				}))
		word, line, err := searches(paperKeys, p.fpr, counts)
		if err != nil {
			return result, err
		}
		result.Add(sized(label("rank-indexed by section V, L <= 64, our search"), word, paper.RankIndexedBits(word)),
			sized(label("rank-indexed by section V, larger buckets, our search"), line, paper.RankIndexedBits(line)))
		asPublished := maker{
			"rank-indexed, published configuration, our structure",
			func(_ float64, n int) (stored, error) {
				g := p.geometry(n, counts)
				if n != paperKeys { // pools of a small filter need larger shares
					g.Pools[1], g.Pools[2] = g.Buckets, g.Buckets
				}
				return rankindexed.New(rankindexed.Config{Geometry: &g})
			},
		}
		var points []float64
		for _, m := range append([]maker{asPublished}, ours...) {
			trials, err := fills(ctx, c, w, n, absent, func() (stored, error) { return m.empty(p.fpr, n) })
			if err != nil {
				return result, err
			}
			rows, at := observedRows(label("%s", m.name), p.fpr, trials)
			result.Add(rows...)
			points = append(points, at[1])
		}
		for j, y := range []float64{printed.standard, points[1], printed.dleft, points[2], printed.rank, points[0],
			points[3], points[4]} {
			curves[j].AddPoint(x+dodged(j, len(curves)), y)
		}
	}
	first := "standard"
	if counts {
		first = "counting Bloom filter"
	}
	for j, name := range []string{
		first + " as published", first + ", ours", "d-left as published", "d-left, ours", "rank-indexed as published",
		"the same in our structure",
		"rank-indexed, ours, L ≤ 64", "rank-indexed, ours, larger buckets",
	} {
		curves[j].Name, curves[j].Dots = name, true
	}
	table, form := "rih-table3", "Plain filters"
	if counts {
		table, form = "rih-table4", "Filters that count"
	}
	result.Plots = []figure.Plot{{
		Name: table, Title: fmt.Sprintf("%s, n = %d", form, n), X: "rate", Y: "bits per key", Names: names,
		Curves: curves,
	}}
	result.Notes = []string{
		"The columns of the standard filter and of d-left are not for ε: both formulas give the printed digits " +
			"at the λ/2^r of the configurations of the paper, 1%, 0.090% and 0.0105%, with fractional probes and bits.",
		"Rows of our structures count all words of all arrays with n keys. p_o is the share of false positives among " +
			"the absent keys of all trials.",
		"Buckets of our structure are whole words. A configuration of the search with L <= 64, which counts bits, is " +
			"up to a tenth larger in it; our own search counts words.",
	}
	if !counts {
		result.Notes = append(result.Notes,
			"Table III has 18.0 and 22.2 for d-left at 0.1% and 0.01%. Its column of savings, 26.3% and 23.2%, "+
				"corresponds to 19.5 and 23.7. The formula that gives its 15.0, and all of Tables IV and V, gives "+
				"19.6 and 23.7: the two values are misprints.")
	}
	return result, nil
}
