package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/plot"
	"github.com/bloomery/bloomery/plan"
)

// familyStyles gives each family the style of its curve: the position in this list. Append new families, so that no
// family changes its color.
var familyStyles = []string{
	"ribbon", "standard", "rankindexed", "blocked", "fuse", "partitioned", "blockpartitioned", "twochoice", "counting",
}

// curveRates returns the rates of a curve, three per power of ten, from 10% to 0.001% or to the asked rate.
func curveRates(asked float64) (rates []float64) {
	const highest, lowest = 0.1, 0.00001
	if asked > highest {
		rates = append(rates, asked)
	}
	for power := highest; power > 1.01*lowest || power > 1.01*asked && asked > 0; power /= 10 {
		rates = append(rates, power, power/2, power/5)
	}
	if asked > 0 && asked < lowest {
		return append(rates, asked)
	}
	return append(rates, lowest)
}

// planChart returns the picture of a plan: the curves of all families that meet the needs, the asked rate and the pick,
// which may be nil. It calls progress with the share done, in [0, 1].
func planChart(ctx context.Context, n plan.Needs, pick *plan.Choice, progress func(float64)) (plot.Chart, error) {
	all, err := curves(ctx, n, progress)
	if err != nil {
		return plot.Chart{}, err
	}

	c := plot.Chart{
		Title: thousands(n.Keys+n.Later) + " keys: size against the false-positive rate",
		X:     "false-positive rate", Y: "bits per key", Curves: all,
	}
	if pick != nil && n.FPR == 0 && n.BitsPerKey == 0 && n.Bytes == 0 {
		n.FPR = plan.DefaultFPR
	}
	if n.FPR > 0 {
		c.Asked = n.FPR
		c.Notes = append(c.Notes, "line: the asked rate, "+plot.Short(100*n.FPR)+"%")
	}
	if pick != nil {
		c.Pick = &[2]float64{pick.FPRPrior, pick.BitsPerKey}
		c.Notes = append(c.Notes, fmt.Sprintf("dot: the pick, %s, %.4g bits per key", pick.Spec, pick.BitsPerKey))
	}
	return c, nil
}

// curves returns the bits per key against the rate: a curve for every family that meets the needs, in its smallest
// form. It ignores the limits on size, rate, time and memory. The last two curves are lower bounds: log2(1/ε) for all
// filters, and log2(1/ε)+1.44 for filters with removal. It calls progress with the share done, in [0, 1].
func curves(ctx context.Context, n plan.Needs, progress func(float64)) ([]plot.Curve, error) {
	rates := curveRates(n.FPR)
	specs, err := abilities(ctx, n)
	if err != nil {
		return nil, err
	}

	var all []plot.Curve
	for i, f := range families.All() {
		progress(float64(i) / float64(len(families.All())))
		var best plot.Curve
		for _, form := range f.Forms {
			at := slices.IndexFunc(specs, func(s filter.Spec) bool {
				of, ok := f.Form(s)
				return ok && of.Spec == form.Spec
			})
			if at < 0 {
				continue
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			c := curve(n, form, specs[at], rates)
			c.Label, c.Style = f.Name, max(slices.Index(familyStyles, f.Name), 0)
			if len(c.Points) > 0 && (best.Points == nil || overBound(c) < overBound(best)) {
				best = c
			}
		}
		if best.Points != nil {
			all = append(all, best)
		}
	}

	for style, bound := range []struct {
		name string
		more float64
	}{{"log2(1/ε)", 0}, {"log2(1/ε) + 1.44", 1.44}} {
		c := plot.Curve{Name: bound.name, Label: bound.name, Style: style, Bound: true}
		for _, rate := range rates {
			c.Points = append(c.Points, [2]float64{rate, math.Log2(1/rate) + bound.more})
		}
		all = append(all, c)
	}
	return all, nil
}

// abilities returns the specs with a rate of all forms that meet the needs apart from their limits. The planner returns
// no rate for forms that lack an operation.
func abilities(ctx context.Context, n plan.Needs) (specs []filter.Spec, err error) {
	n.FPR, n.BitsPerKey, n.Bytes, n.Build, n.Memory = plan.DefaultFPR, 0, 0, 0, 0
	p, err := plan.For(ctx, n)
	if impossible := (*plan.Impossible)(nil); err != nil && !errors.As(err, &impossible) {
		return nil, err
	}

	for _, c := range p.Choices {
		specs = append(specs, c.Spec)
	}

	for _, r := range p.Refused {
		specs = append(specs, r.Spec)
	}
	return slices.DeleteFunc(specs, func(s filter.Spec) bool { return !family.Given(s, "fpr") }), nil
}

// curve returns the curve of a form with a spec that meets the needs, at the rates that the form can have.
func curve(n plan.Needs, form family.Form, s filter.Spec, rates []float64) plot.Curve {
	c, all := plot.Curve{Name: form.Spec.String()}, n.Keys+n.Later
	keys := all
	if form.Can.Has(family.CanLater) { // the form adds the later keys itself
		keys = n.Keys
	}
	for _, rate := range rates {
		row := plan.Forecast(s.With("fpr", rate), keys)
		// A filter of few keys may have a rate far below the one that its spec names.
		if row.Problem == "" && row.FPRPrior > rates[len(rates)-1]/2 {
			c.Points = append(c.Points, [2]float64{row.FPRPrior, float64(row.Bits) / float64(all)})
		}
	}
	return c
}

// overBound returns the mean distance of a curve to the bound log2(1/ε), in bits per key.
func overBound(c plot.Curve) float64 {
	var sum float64
	for _, p := range c.Points {
		sum += p[1] - math.Log2(1/p[0])
	}
	return sum / float64(len(c.Points))
}
