package ribbon

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// fractionRates are rates that are not a power of two. The rates 2^-(r+0.472) are the most expensive for a mixture of
// blocks with r and with r+1 bits.
var fractionRates = []float64{
	math.Exp2(-1.472), 0.2, 0.1, math.Exp2(-3.472), 0.05, 0.03, 0.01, math.Exp2(-7.472), 0.003, 0.001,
	math.Exp2(-10.472), 1e-4, math.Exp2(-15.472),
}

// limitedKeys is the smallest number of keys to which the limit for these rates applies. Smaller filters need more bits
// per key.
const limitedKeys = 1_000_000

// fractions builds filters for rates that are not a power of two, with a quarter of the trials.
func (s scale) fractions(c experiment.Config) part {
	trials := max(2, c.Trials/4)
	all := float64(s.rates * len(fractionRates) * trials)
	return part{all, func(ctx context.Context, work *experiment.Work, result *figure.Result) error {
		builds, err := experiment.Each(ctx, work, float64(s.rates*len(fractionRates)), trials,
			func(ctx context.Context, trial int) (over []float64, err error) {
				hs := c.Hashes(s.rates, trial)
				for _, rate := range fractionRates {
					f, err := build(ctx, family.NewSpec("ribbon", "fpr", rate), hs)
					if err != nil {
						return nil, err
					}
					info := f.Info()
					if info.FPRPosterior > rate {
						return nil, fmt.Errorf("%s has a rate of %g, not %g", family.SpecOf(f), info.FPRPosterior, rate)
					}
					over = append(over, float64(info.Bits)/float64(s.rates)+math.Log2(rate))
				}
				return over, nil
			})
		if err != nil {
			return err
		}
		measured := figure.Curve{Name: "measured"}
		limits := figure.Curve{Name: "limit", Bound: true}
		for i, over := range experiment.Columns(builds) {
			rate := fractionRates[i]
			limit := 0.09 + 0.003*math.Floor(-math.Log2(rate))
			label := fmt.Sprintf("%d keys, rate %.4g: bits per key above -log2(rate)", s.rates, rate)
			row := atLeast0(figure.Mean(label, over))
			if s.rates >= limitedKeys {
				row = experiment.AtMost(row, limit)
			}
			result.Add(row)
			measured.Add(rate, row)
			limits.AddPoint(rate, limit)
		}
		result.Plots = append(result.Plots, figure.Plot{
			Name: "ribbon-rates", Title: "Bits for rates between powers of two", X: "rate",
			Y: "bits per key above -log2(rate)", LogX: true, Curves: []figure.Curve{measured, limits},
		})
		return nil
	}}
}

// observedSpecs are the filters whose rates are observed.
var observedSpecs = []filter.Spec{
	family.NewSpec("ribbon", "r", 1), family.NewSpec("ribbon", "r", 4), family.NewSpec("ribbon", "r", 7),
	family.NewSpec("ribbon", "r", 8), family.NewSpec("ribbon", "r", 10), family.NewSpec("ribbon", "r", 16),
	family.NewSpec("ribbon", "r", 1, "w", 128), family.NewSpec("ribbon", "r", 8, "w", 128),
	family.NewSpec("ribbon", "fpr", 0.01), family.NewSpec("ribbon", "fpr", 0.3),
}

// absentPart is the number of absent keys that are queried at a time.
const absentPart = 1 << 20

// observed queries absent keys.
func (s scale) observed(c experiment.Config) part {
	parts := (s.absent + absentPart - 1) / absentPart
	each := float64(len(observedSpecs)*absentPart) / 4 // a query takes less time than a key of a build
	return part{each * float64(parts), func(ctx context.Context, work *experiment.Work, result *figure.Result) error {
		hs := c.Hashes(s.rates, 0)
		var filters []family.Filter
		for _, spec := range observedSpecs {
			f, err := build(ctx, spec, hs)
			if err != nil {
				return err
			}
			if lost := s.rates - int(has(f, hs)); lost > 0 {
				return fmt.Errorf("%s lost %d of %d keys", spec, lost, s.rates)
			}
			filters = append(filters, f)
		}
		tallies := make([]experiment.Tally, len(filters))
		one := func(_ context.Context, i int) ([]experiment.Tally, error) {
			absent := c.Hashes(min(absentPart, s.absent-i*absentPart), 1_000_000+i)
			out := make([]experiment.Tally, len(filters))
			for j, f := range filters {
				out[j] = experiment.Tally{Hits: has(f, absent), Of: uint64(len(absent))}
			}
			return out, nil
		}
		found, err := experiment.Each(ctx, work, each, parts, one)
		if err != nil {
			return err
		}
		for _, some := range found {
			for j, t := range some {
				tallies[j] = tallies[j].Plus(t)
			}
		}
		for j, f := range filters {
			label := fmt.Sprintf("%s of %d keys: observed rate", observedSpecs[j], s.rates)
			result.Add(tallies[j].Row(label, f.Info().FPRPosterior))
		}
		return nil
	}}
}
