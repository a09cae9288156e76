package plot

import (
	"math"

	base "github.com/bloomery/bloomery/internal/plot"
)

// axes returns the axes, without their positions. ok is false if there is no point on the horizontal one: levels do not
// count.
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
	x, y = base.NewAxis(low.x, high.x, p.LogX), base.NewAxis(low.y, high.y, p.LogY)
	if p.Names != nil {
		x = base.Axis{Low: 0.5, High: float64(len(p.Names)) + 0.5}
		for i, name := range p.Names {
			x.Ticks = append(x.Ticks, base.Tick{Value: float64(i + 1), Label: name})
		}
	}
	return x, y, true
}

// Short formats a value with four significant digits, with an exponent if it is very small or large.
func Short(v float64) string { return base.Short(v) }
