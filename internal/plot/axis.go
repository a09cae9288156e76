package plot

import (
	"math"
	"strconv"
	"strings"
)

// Tick is a mark of an axis. A tick with a label has a grid line.
type Tick struct {
	Value float64
	Label string
}

// Axis maps values from Low to High to positions From and To, in points.
type Axis struct {
	Low, High float64
	From, To  float64
	Log       bool
	Ticks     []Tick
}

// NewAxis returns an axis of a range, without positions. A single value is in the middle.
func NewAxis(lo, hi float64, log bool) Axis {
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
	return Axis{Low: lo, High: hi, Log: log, Ticks: ticks(lo, hi)}
}

// At returns the position of a value.
func (a Axis) At(v float64) float64 {
	lo, hi := a.Low, a.High
	if a.Log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	return a.From + (v-lo)/(hi-lo)*(a.To-a.From)
}

// logTicks labels 1, 2 and 5 of every power of ten: more values if the axis spans about one power, fewer if it spans
// many, and about five round values if it spans less than a factor of 5. It expects 0 < lo < hi.
func logTicks(lo, hi float64) (ticks []Tick) {
	if hi < 5*lo {
		return evenTicks(lo, hi)
	}

	powers := math.Log10(hi / lo)
	step := int(math.Ceil(powers / 10)) // powers of ten from one label to the next
	for exponent := int(math.Floor(math.Log10(lo))); float64(exponent) <= math.Log10(hi)+1e-9; exponent++ {
		for d := 1; d < 10; d++ {
			t := Tick{Value: float64(d) * math.Pow(10, float64(exponent))}
			if t.Value < lo*(1-1e-9) || t.Value > hi*(1+1e-9) || powers > 8 && d > 1 {
				continue
			}
			if d == 1 && exponent%step == 0 || powers < 4 && (d == 2 || d == 5) ||
				powers < math.Log10(12) && d != 9 && (d != 7 || powers < math.Log10(6)) {
				t.Label = mark(t.Value)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// evenTicks labels about five round values at equal distances.
func evenTicks(lo, hi float64) (ticks []Tick) {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/4)))
	if most := (hi - lo) / 4; step*5 <= most {
		step *= 5
	} else if step*2 <= most {
		step *= 2
	}
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9); i++ {
		ticks = append(ticks, Tick{i * step, mark(i * step)})
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
