package plan

import (
	"context"
	"math"

	"github.com/bloomery/bloomery/internal/family"
)

// Curve has the bits per key of one family, or a lower bound, at several false-positive rates. A point is (rate, bits
// per key).
type Curve struct {
	Name   string
	Points [][2]float64
	Bound  bool // a lower bound, not a family
}

// curveRates are the rates of a Curve, three per power of ten.
var curveRates = []float64{0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001, 0.00001}

// Curves returns a curve for every family that meets the needs, in its smallest form, at rates from 10% to 0.001%. It
// ignores the limits of size and rate. The last two curves are lower bounds: log2(1/ε) for all filters, and
// log2(1/ε)+1.44 for filters with removal. It calls progress with the share done, in [0, 1]. When ctx ends it returns
// ctx.Err().
func Curves(ctx context.Context, n Needs, progress func(float64)) ([]Curve, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	n.BitsPerKey, n.Bytes = 0, 0
	var curves []Curve
	forms := map[string]int{} // index of the curve of a family
	for i, k := range kinds {
		progress(float64(i) / float64(len(kinds)))
		if k.misses(&n) || k.lacks(&n) != "" {
			continue
		}
		c := Curve{Name: k.Spec.String()}
		for _, rate := range curveRates {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			row := Forecast(k.sized(&n, family.Sizing{FPR: rate}), k.counted(&n))
			if row.Problem == "" {
				c.Points = append(c.Points, [2]float64{row.FPRPrior, float64(row.Bits) / float64(n.all())})
			}
		}
		at, drawn := forms[k.Spec.Family()]
		switch {
		case len(c.Points) == 0:
		case !drawn:
			forms[k.Spec.Family()] = len(curves)
			curves = append(curves, c)
		case c.mean() < curves[at].mean():
			curves[at] = c
		}
	}
	for _, bound := range []struct {
		name string
		more float64
	}{{"log2(1/ε)", 0}, {"log2(1/ε) + 1.44", 1.44}} {
		c := Curve{Name: bound.name, Bound: true}
		for _, rate := range curveRates {
			c.Points = append(c.Points, [2]float64{rate, math.Log2(1/rate) + bound.more})
		}
		curves = append(curves, c)
	}
	return curves, nil
}

// mean returns the mean distance to the bound log2(1/ε), in bits per key.
func (c Curve) mean() float64 {
	var sum float64
	for _, p := range c.Points {
		sum += p[1] - math.Log2(1/p[0])
	}
	return sum / float64(len(c.Points))
}
