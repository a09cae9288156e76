// Package ribbon measures filters of family ribbon: their size beside the bound of information theory, their rates, how
// many keys each layer takes, and their times beside the times of family fuse. docs/ribbon.md shows the results.
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
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment { return []experiment.Experiment{sizes, times} }

const source = "docs/ribbon.md"

// sizes measures everything but times.
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
			"bits a key at a rate of 2^-r, and -log2 of any other rate. Limits hold for means of %d builds.", c.Trials))
	return result, nil
}

// part is one part of the experiment.
type part struct {
	work float64 // in keys that are hashed, built or queried
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
	dst := make([]bool, min(len(hs), 1024))
	for len(hs) > 0 {
		some := hs[:min(len(hs), len(dst))]
		f.(family.Batcher).HasMany(dst[:len(some)], some)
		for _, yes := range dst[:len(some)] {
			if yes {
				n++
			}
		}
		hs = hs[len(some):]
	}
	return n
}
