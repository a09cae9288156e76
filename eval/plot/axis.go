package plot

import (
	"math"
	"slices"

	base "github.com/bloomery/bloomery/internal/plot"
)

// axes returns the axes, without their positions. ok is false if no curve has a point on the horizontal axis; levels do
// not count.
func (p Plot) axes() (x, y base.Axis, ok bool) {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, c := range p.Curves {
		for i, q := range c.Points {
			if !c.Level {
				low.x, high.x = min(low.x, q[0]), max(high.x, q[0])
			}
			down, up := p.bar(c, i)
			low.y, high.y = min(low.y, q[1], down), max(high.y, q[1], up)
		}
	}
	if low.x > high.x {
		return x, y, false
	}
	low, high = p.withZero(low, high)
	x, y = base.NewAxis(low.x, high.x, p.LogX), base.NewAxis(low.y, high.y, p.LogY)
	if p.Names != nil {
		x = base.Axis{Low: 0.5, High: float64(len(p.Names)) + 0.5}
		for i, name := range p.Names {
			x.Ticks = append(x.Ticks, base.Tick{Value: float64(i + 1), Label: name})
		}
	}
	return x, y, true
}

// withZero extends linear axes to 0 if their values begin near 0, in parts of the value that is farthest from 0.
func (p Plot) withZero(low, high point) (point, point) {
	extend := func(low, high, near float64) (float64, float64) {
		switch {
		case low > 0 && low < near*high:
			low = 0
		case high < 0 && high > near*low:
			high = 0
		}
		return low, high
	}
	if !p.LogX {
		low.x, high.x = extend(low.x, high.x, 0.1) // not for small numbers such as 1, 2, ..., 8 functions
	}
	if !p.LogY {
		low.y, high.y = extend(low.y, high.y, 0.5)
	}
	return low, high
}

// thin removes labels of ticks until none overlaps the next one. size returns the length of a label along the axis,
// including a gap; no label ends behind end. Every second, fifth or tenth label remains, 0 among them; on a logarithmic
// axis, the powers of ten.
func thin(a base.Axis, end float64, size func(label string) float64) {
	all := slices.Clone(a.Ticks)
	value, steps := func(v float64) float64 { return v / (all[1].Value - all[0].Value) }, []float64{2, 5, 10, 20, 50}
	if n := len(all); n > 2 && a.Log && all[n-1].Value-all[n-2].Value > 1.5*(all[1].Value-all[0].Value) {
		value, steps = math.Log10, []float64{1, 2, 5, 10, 20, 50} // the ticks are at unequal distances
	}
	for _, step := range steps {
		if fit(a, end, size) {
			return
		}
		for i, t := range all {
			if n := value(t.Value) / step; math.Abs(n-math.Round(n)) > 1e-6 {
				t.Label = ""
			}
			a.Ticks[i] = t
		}
	}
}

// fit reports whether no label overlaps the next one.
func fit(a base.Axis, end float64, size func(label string) float64) bool {
	before, half := math.Inf(-1), 0.0 // of the last label
	for _, t := range a.Ticks {
		if t.Label == "" {
			continue
		}
		at := math.Abs(a.At(t.Value) - a.From)
		at = min(at, math.Abs(end-a.From)-size(t.Label)/2)
		if at-size(t.Label)/2 < before+half {
			return false
		}
		before, half = at, size(t.Label)/2
	}
	return true
}

// Short formats a value with four significant digits, with an exponent if it is very small or large.
func Short(v float64) string { return base.Short(v) }
