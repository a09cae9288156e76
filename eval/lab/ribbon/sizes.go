package ribbon

import (
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// shape is a column of the table of sizes.
type shape struct {
	r, w   int
	limits map[int]float64 // limits of size.bits, by number of keys
	only   int             // the number of keys for which it is built; 0 for all
}

var shapes = []shape{
	{r: 1, w: 64},
	{r: 8, w: 64, limits: map[int]float64{1000: 3.5, 10_000: 0.9, 100_000: 0.4, 1_000_000: 0.3, 10_000_000: 0.25}},
	{r: 16, w: 64},
	{r: 1, w: 128, limits: map[int]float64{10_000: 2.6, 100_000: 0.75, 1_000_000: 0.45, 10_000_000: 0.42}},
	{r: 8, w: 128},
	{r: 16, w: 128},
	{r: 7, w: 64, only: 1_000_000, limits: map[int]float64{1_000_000: 0.3}},
	{r: 10, w: 64, only: 1_000_000, limits: map[int]float64{1_000_000: 0.3}},
}

func (s shape) spec() filter.Spec { return family.NewSpec("ribbon", "r", s.r, "w", s.w) }

func (s shape) String() string { return fmt.Sprintf("r=%d, w=%d", s.r, s.w) }

// shapesOf returns the shapes that are built for n keys.
func shapesOf(n int) []shape {
	return slices.DeleteFunc(slices.Clone(shapes), func(s shape) bool { return s.only != 0 && s.only != n })
}

// size is the percentage by which a filter, and its file, exceed r bits per key.
type size struct{ bits, file float64 }

// table builds filters of all shapes.
func (s scale) table(c experiment.Config) part {
	p := part{}
	for _, n := range s.keys {
		p.work += float64(n * len(shapesOf(n)) * c.Trials)
	}
	p.run = func(ctx context.Context, work *experiment.Work, result *figure.Result) error {
		curves := map[string]*figure.Curve{}
		for _, n := range s.keys {
			some := shapesOf(n)
			builds, err := experiment.Each(ctx, work, float64(n*len(some)), c.Trials,
				func(ctx context.Context, trial int) (sizes []size, err error) {
					hs := c.Hashes(n, trial)
					for _, shape := range some {
						one, err := shape.build(ctx, hs)
						if err != nil {
							return nil, err
						}
						sizes = append(sizes, one)
					}
					return sizes, nil
				})
			if err != nil {
				return err
			}
			for i, shape := range some {
				result.Add(shape.rows(n, i, builds, curves)...)
			}
		}
		result.Plots = append(result.Plots, sizePlot(curves))
		return nil
	}
	return p
}

// build builds a filter of the shape and returns its size.
func (s shape) build(ctx context.Context, hs []filter.Hash) (size, error) {
	f, err := build(ctx, s.spec(), hs)
	if err != nil {
		return size{}, err
	}
	file, err := fileBytes(f)
	bound := float64(s.r * len(hs))
	return size{100 * (float64(f.Info().Bits)/bound - 1), 100 * (8*float64(file)/bound - 1)}, err
}

// fileBytes returns the length of the file of a filter.
func fileBytes(f family.Filter) (uint64, error) {
	e := f.(family.Encoder).Encode()
	family, err := families.ByName(e.Spec.Family())
	if err != nil {
		return 0, err
	}
	return container.Len(container.New(family.ID, e, filter.NewHasher(1)))
}

// rows returns the rows of n keys, builds[trial][i] being the sizes, and adds to the curve of the shape.
func (s shape) rows(n, i int, builds [][]size, curves map[string]*figure.Curve) []figure.Row {
	bits := experiment.Values(builds, func(b []size) float64 { return b[i].bits })
	file := experiment.Values(builds, func(b []size) float64 { return b[i].file })
	label := fmt.Sprintf("%d keys, %s: %% over r bits per key", n, s)
	worst := figure.Exact(label+", worst", slices.Max(bits))
	rows := []figure.Row{atLeast0(figure.Mean(label, bits)), worst, atLeast0(figure.Mean(label+", file", file))}
	if s.only == 0 {
		if curves[s.String()] == nil {
			curves[s.String()] = &figure.Curve{Name: s.String()}
		}
		// The bars extend from the smallest to the largest filter.
		curves[s.String()].Add(float64(n), figure.Row{
			Measured: rows[0].Measured, Low: slices.Min(bits), High: slices.Max(bits),
		})
	}
	if limit, ok := s.limits[n]; ok {
		rows[0], rows[1] = experiment.AtMost(rows[0], limit), experiment.AtMost(rows[1], limit)
	}
	return rows
}

// atLeast0 returns the row with an interval that does not go below 0.
func atLeast0(r figure.Row) figure.Row {
	r.Low = max(r.Low, 0)
	return r
}

func sizePlot(curves map[string]*figure.Curve) figure.Plot {
	p := figure.Plot{
		Name: "ribbon-bits", Title: "Size of ribbon filters over the bound; bars: smallest and largest filter",
		X: "keys", Y: "% over the bound", LogX: true, LogY: true,
	}
	for _, s := range shapes {
		if c := curves[s.String()]; c != nil {
			p.Curves = append(p.Curves, *c)
		}
	}
	return p
}
