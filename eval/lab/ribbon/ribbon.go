// Package ribbon measures filters of family ribbon: their size compared with the bound of information theory, their
// rates, how many keys each layer stores, and their times compared with family fuse. docs/families/ribbon.md shows the
// results.
package ribbon

import (
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/ribbon"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment { return []experiment.Experiment{sizes, times} }

const source = "docs/families/ribbon.md"

// sizes measures everything except times.
var sizes = experiment.Experiment{
	Name: "ribbon", Source: source, Varies: "number of keys, bits of a fingerprint, width of the coefficients",
	Run: runSizes, Seconds: 60,
}

// scale is the size of a run.
type scale struct {
	keys   []int // numbers of keys in the table of sizes
	rates  int   // keys of the filters whose rates are measured
	absent int   // absent keys of each of them
	builds int   // builds that must not fail
	most   int   // keys of the largest of them
}

var (
	normal = scale{
		keys: []int{1000, 10_000, 100_000, 1_000_000}, rates: 1_000_000, absent: 30_000_000, builds: 3000, most: 60_000,
	}
	quick = scale{keys: []int{1000, 10_000}, rates: 10_000, absent: 100_000, builds: 30, most: 6000}
)

func runSizes(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(20)
	s := normal
	switch {
	case c.Quick:
		s = quick
	case c.Full:
		s.keys = append(slices.Clone(s.keys), 10_000_000)
	}
	parts := []part{s.table(c), s.fractions(c), s.observed(c), s.layers(c), s.manyBuilds(c)}
	all := 0.
	for _, p := range parts {
		all += p.work
	}
	work := c.Work(all)
	for _, p := range parts {
		if err := p.run(ctx, work, &result); err != nil {
			return result, err
		}
	}
	result.Notes = append(result.Notes, fmt.Sprintf(
		"Bits are of the solution, of the thresholds and of the tail. A file also has a header. The bound is r "+
			"bits per key at a rate of 2^-r, and -log2 of any other rate. Limits hold for means of %d builds.", c.Trials))
	return result, nil
}

// part is one part of the experiment.
type part struct {
	work float64 // work in keys that are hashed, built or queried
	run  func(context.Context, *experiment.Work, *figure.Result) error
}

// build builds the filter of a spec.
func build(ctx context.Context, spec filter.Spec, hs []filter.Hash) (family.Filter, error) {
	family, err := families.ByName(spec.Family())
	if err != nil {
		return nil, err
	}
	b, err := family.NewBuilder(spec, uint64(len(hs)))
	f, err := experiment.Build(ctx, b, err, hs)
	if err != nil {
		return nil, fmt.Errorf("%s of %d keys: %w", spec, len(hs), err)
	}
	return f, nil
}

// has counts the keys that f contains, in batches.
func has(f family.Filter, hs []filter.Hash) (n uint64) {
	var dst [1024]bool
	for some := range slices.Chunk(hs, len(dst)) {
		f.(family.Batcher).HasMany(dst[:len(some)], some)
		for _, yes := range dst[:len(some)] {
			if yes {
				n++
			}
		}
	}
	return n
}

// manyBuilds counts failed builds and lost keys in builds of few keys. Half of the builds have 0, 1, 2, ... keys, the
// other half have evenly spaced numbers of keys up to the largest.
func (s scale) manyBuilds(c experiment.Config) part {
	by := float64(s.most) / 4 // keys of the mean build, roughly
	return part{by * float64(s.builds), func(ctx context.Context, work *experiment.Work, result *figure.Result) error {
		type outcome struct {
			lost   uint64
			failed error
		}
		one := func(ctx context.Context, i int) (o outcome, _ error) {
			n := i / 2
			if i%2 == 1 {
				n = s.most * i / (s.builds - 1)
			}
			hs := c.Hashes(n, 2_000_000+i)
			f, err := build(ctx, family.NewSpec("ribbon", "r", 1+i%16, "w", 64+64*(i/16%2)), hs)
			switch {
			case ctx.Err() != nil:
				return o, ctx.Err()
			case err != nil:
				o.failed = err
			default:
				o.lost = uint64(n) - has(f, hs)
			}
			return o, nil
		}
		outcomes, err := experiment.Each(ctx, work, by, s.builds, one)
		if err != nil {
			return err
		}
		var failed, lost float64
		var first error
		for _, o := range outcomes {
			lost += float64(o.lost)
			if o.failed != nil && first == nil {
				first = o.failed
			}
			if o.failed != nil {
				failed++
			}
		}
		row := figure.Exact("builds that failed", failed).Noted("of %d with 0 to %d keys", s.builds, s.most)
		if first != nil {
			row = row.Noted("%s; the first: %v", row.Note, first)
		}
		result.Add(experiment.AtMost(row, 0), experiment.AtMost(figure.Exact("keys lost in these builds", lost), 0))
		return nil
	}}
}

// layers counts the keys of the layers, in a quarter of the trials.
func (s scale) layers(c experiment.Config) part {
	trials, widths := max(2, c.Trials/4), []int{64, 128}
	by := float64(s.rates * len(widths))
	return part{by * float64(trials), func(ctx context.Context, work *experiment.Work, result *figure.Result) error {
		one := func(ctx context.Context, trial int) ([][]float64, error) {
			var shares [][]float64
			hs := c.Hashes(s.rates, trial)
			for _, w := range widths {
				f, err := build(ctx, family.NewSpec("ribbon", "r", 8, "w", w), hs)
				if err != nil {
					return nil, err
				}
				shares = append(shares, bumped(f.(*ribbon.Filter).Layers(hs)))
			}
			return shares, nil
		}
		builds, err := experiment.Each(ctx, work, by, trials, one)
		if err != nil {
			return err
		}
		for i, w := range widths {
			for layer := 0; ; layer++ {
				var of []float64
				for _, b := range builds {
					if layer < len(b[i]) {
						of = append(of, b[i][layer])
					}
				}
				if len(of) == 0 {
					break
				}
				label := fmt.Sprintf("%d keys, w=%d: %% bumped by layer %d", s.rates, w, layer)
				row := atLeast0(figure.Mean(label, of))
				result.Add(row.Noted("%d of %d filters have the layer", len(of), len(builds)))
			}
		}
		return nil
	}}
}

// bumped returns the percentage of all keys that each layer bumps, from the numbers of keys of the layers and of the
// tail.
func bumped(counts []uint64) (percentages []float64) {
	all := uint64(0)
	for _, n := range counts {
		all += n
	}
	left := all
	for _, n := range counts[:len(counts)-1] {
		left -= n
		percentages = append(percentages, 100*float64(left)/float64(max(all, 1)))
	}
	return percentages
}
