package plot

import (
	"math"
	"strconv"
	"strings"
)

// tick is a mark of an axis. Those with a label have a line of the grid.
type tick struct {
	value float64
	label string
}

// axis maps values from lo to hi to positions from and to, in points.
type axis struct {
	lo, hi   float64
	from, to float64
	log      bool
	ticks    []tick
}

// axes returns the axes, without their positions. ok is false if there is no point on the horizontal one: levels do not
// count.
func (p Plot) axes() (x, y axis, ok bool) {
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
	x, y = newAxis(low.x, high.x, p.LogX), newAxis(low.y, high.y, p.LogY)
	if p.Names != nil {
		x = axis{lo: 0.5, hi: float64(len(p.Names)) + 0.5}
		for i, name := range p.Names {
			x.ticks = append(x.ticks, tick{float64(i + 1), name})
		}
	}
	return x, y, true
}

// newAxis returns an axis of a range. A single value is in the middle.
func newAxis(lo, hi float64, log bool) axis {
	switch {
	case log && lo == hi:
		lo, hi = lo/2, hi*2
	case lo == hi:
		lo, hi = lo-1, hi+1
	}
	ticks := evenTicks
	if log {
		ticks = logTicks
	}
	return axis{lo: lo, hi: hi, log: log, ticks: ticks(lo, hi)}
}

// at returns the position of a value.
func (a axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// logTicks labels 1, 2 and 5 of every power of ten: more values if the axis spans about one power, fewer if it spans
// many, and about five round values if it spans less than a factor of 5. It expects 0 < lo < hi.
func logTicks(lo, hi float64) (ticks []tick) {
	if hi < 5*lo {
		return evenTicks(lo, hi)
	}
	powers := math.Log10(hi / lo)
	step := int(math.Ceil(powers / 10)) // powers of ten from one label to the next
	for exponent := int(math.Floor(math.Log10(lo))); float64(exponent) <= math.Log10(hi)+1e-9; exponent++ {
		for d := 1; d < 10; d++ {
			t := tick{value: float64(d) * math.Pow(10, float64(exponent))}
			if t.value < lo*(1-1e-9) || t.value > hi*(1+1e-9) || powers > 8 && d > 1 {
				continue
			}
			if d == 1 && exponent%step == 0 || powers < 4 && (d == 2 || d == 5) ||
				powers < math.Log10(12) && d != 9 && (d != 7 || powers < math.Log10(6)) {
				t.label = mark(t.value)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// evenTicks labels about five round values at equal distances.
func evenTicks(lo, hi float64) (ticks []tick) {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/4)))
	if most := (hi - lo) / 4; step*5 <= most {
		step *= 5
	} else if step*2 <= most {
		step *= 2
	}
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9); i++ {
		ticks = append(ticks, tick{i * step, mark(i * step)})
	}
	return ticks
}

// mark formats the label of a tick: at most four digits, with an exponent only below 1e-4 and from 1e6 on.
func mark(v float64) string {
	if size := math.Abs(v); v != 0 && (size < 1e-4 || size >= 1e6) {
		return Short(v)
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return strconv.FormatFloat(v+0, 'f', -1, 64) // + 0 turns -0 into 0
}

// Short formats a value with four significant digits, with an exponent if it is very small or large.
func Short(v float64) string {
	text := strconv.FormatFloat(v, 'g', 4, 64)
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(text)
}
