package main

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/plot"
	"github.com/bloomery/bloomery/plan"
)

// curveRates are the rates of a curve, three per power of ten.
var curveRates = []float64{0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001, 0.00001}

// curves returns the bits per key against the rate, from 10% to 0.001%: a curve for every family that meets the needs,
// in its smallest form. It ignores the limits on size, rate, time and memory. The last two curves are lower bounds:
// log2(1/ε) for all filters, and log2(1/ε)+1.44 for filters with removal. It calls progress with the share done, in [0,
// 1].
func curves(ctx context.Context, n plan.Needs, progress func(float64)) ([]plot.Curve, error) {
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
			c := curve(n, form, specs[at])
			if len(c.Points) > 0 && (best.Points == nil || overBound(c) < overBound(best)) {
				best = c
			}
		}
		if best.Points != nil {
			all = append(all, best)
		}
	}

	for _, bound := range []struct {
		name string
		more float64
	}{{"log2(1/ε)", 0}, {"log2(1/ε) + 1.44", 1.44}} {
		c := plot.Curve{Name: bound.name, Bound: true}
		for _, rate := range curveRates {
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

// curve returns the curve of a form with a spec that meets the needs.
func curve(n plan.Needs, form family.Form, s filter.Spec) plot.Curve {
	c, all := plot.Curve{Name: form.Spec.String()}, n.Keys+n.Later
	keys := all
	if form.Can.Has(family.CanLater) { // the form adds the later keys itself
		keys = n.Keys
	}
	for _, rate := range curveRates {
		if row := plan.Forecast(s.With("fpr", rate), keys); row.Problem == "" {
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
