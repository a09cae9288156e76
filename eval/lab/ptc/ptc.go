// Package ptc contains the experiments on Bloom filters with two choices: S. Lumetta and M. Mitzenmacher, "Using the
// power of two choices to improve Bloom filters", Internet Mathematics 4(1), 2007.
package ptc

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/family/twochoice"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{table1, table2, table3, shift, exactLaw, closed, optima}
}

// Paper names the paper: the sources of experiments begin with it.
const Paper = "two choices (Lumetta and Mitzenmacher, 2007)"

// choice is a setting of the paper: m/n, c, k, and the rounds of a search, which are 1 if keys are added one by one.
type choice struct {
	bits   float64
	c, k   int
	rounds int
}

func (x choice) String() string {
	return fmt.Sprintf("%g bits per key, c = %d, k = %d", x.bits, x.c, x.k)
}

// construction says how the groups of a key follow from its hash.
type construction string

const (
	independent construction = "independent"
	double      construction = "double"
	shifted     construction = "shifted" // the family twochoice; the others are of the paper
)

// empty returns an empty filter for n keys, a standard one for c = 1.
func (x choice) empty(n int, by construction) (experiment.Growing, error) {
	size := family.Sizing{BitsPerKey: x.bits}
	if x.c == 1 {
		return standard.New(standard.Config{Keys: uint64(n), Size: size, K: x.k})
	}
	if by == shifted {
		return twochoice.New(twochoice.Config{Keys: uint64(n), Size: size, Choices: x.c, K: x.k, Shards: 1})
	}
	return x.paper(n, by == double), nil
}

// online adds the keys of each trial to an empty filter one by one and returns what of returns for each filter. Each
// trial adds units to w.
func (x choice) online(
	ctx context.Context, c experiment.Config, w *experiment.Work, units float64, n, trials int,
	by construction, of func(f experiment.Growing, trial int) float64,
) ([]float64, error) {
	return experiment.Each(ctx, w, units, trials, func(_ context.Context, trial int) (float64, error) {
		f, err := x.empty(n, by)
		if err != nil {
			return 0, err
		}
		if err := experiment.AddAll(f, c.Hashes(n, trial)); err != nil {
			return 0, err
		}
		return of(f, trial), nil
	})
}

// fillOf returns the share of ones.
func fillOf(f experiment.Growing, _ int) float64 { return f.Info().Fill }

// offline searches a filter of all keys for each trial and returns its share of ones.
func (x choice) offline(
	ctx context.Context, c experiment.Config, w *experiment.Work, n, trials int, by construction,
) ([]float64, error) {
	return experiment.Each(ctx, w, x.cost(n), trials, func(ctx context.Context, trial int) (float64, error) {
		hs := c.Hashes(n, trial)
		if by != shifted {
			f := x.paper(n, by == double)
			f.search(hs)
			return fillOf(f, trial), nil
		}

		b, err := twochoice.NewBuilder(twochoice.Config{
			Size: family.Sizing{BitsPerKey: x.bits}, Choices: x.c, K: x.k, Shards: 1,
			Effort: filter.Effort{Passes: x.rounds}, Workers: 1,
		})
		f, err := experiment.Build(ctx, b, err, hs)
		if err != nil {
			return 0, err
		}
		return f.Info().Fill, nil
	})
}

// cost returns the approximate time of a trial, in any unit.
func (x choice) cost(n int) float64 { return float64(n) * float64(x.rounds) * float64((x.c+2)*x.k) }

// rate returns the rate that the paper calls observed. It follows from the share of ones.
func (x choice) rate(fill float64) float64 { return twochoice.FPR(fill, x.k, x.c) }

// coincide describes the rate of n keys under double hashing, including the share due to coinciding groups.
func (x choice) coincide(fill float64, n int) string {
	keys := float64(n)
	return fmt.Sprintf("groups that coincide make the rate %.3g, from %.3g",
		x.doubleRate(fill, keys, x.bits*keys), x.rate(fill))
}

// publishedRow is a row of Table 1 or 3.
type publishedRow struct {
	choice
	rate float64
}

// spread returns about the standard deviation of the share of ones of one filter with n keys: sqrt((e^-λ -
// (1+λ)·e^(-2λ))/m) with λ = ln 2, where random probes set half of m bits. A filter that chooses among groups varies
// less, 0.8 to 0.9 of this.
func (x choice) spread(n int) float64 {
	half := 0.5 - (1+math.Ln2)*0.25
	return math.Sqrt(half / (x.bits * float64(n)))
}

// toleratedErrors is the number of standard errors of our mean that a tolerance allows.
const toleratedErrors = 3

// fillTolerance returns the tolerance of a published share of ones with four digits, for the mean of trials.
func (x choice) fillTolerance(n, trials int) float64 {
	return 0.00005 + toleratedErrors*x.spread(n)/math.Sqrt(float64(trials))
}

// tolerance returns the tolerance of a published rate for the mean of trials: 1.2% (2.5% at 32 bits per key, where the
// rate varies most), and 3 standard errors of our mean. The rate goes with f^k, and f is about 1/2, so that a relative
// change of the rate is 2k times the change of f.
func (p publishedRow) tolerance(n, trials int) float64 {
	share := 0.012
	if p.bits == 32 {
		share = 0.025
	}
	return p.rate * (share + toleratedErrors*2*float64(p.k)*p.spread(n)/math.Sqrt(float64(trials)))
}

// toleranceNote describes tolerance.
const toleranceNote = "Tolerance of a rate: 1.2% of the published one, 2.5% at 32 bits per key, and 3 standard errors " +
	"of our mean, which fall with the square root of the trials."

// mean returns the row of the rates of filters with n keys and, unless quick, compares it with the published one.
func (p publishedRow) mean(c experiment.Config, label string, n int, rates []float64) figure.Row {
	r := figure.Mean(label, rates)
	if !c.Quick {
		r = r.Against(p.rate, p.tolerance(n, len(rates)))
	}
	return r
}
