package lab

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// labels stand beside points, each where it covers no mark and no other label, as near as that is possible.
type labels struct {
	style  text.Style
	points []labelled
	bars   [][3]float64 // x and an interval of y: intervals are kept free, too
}

// labelled is a point in the units of the axes, its text, and the color of both.
type labelled struct {
	x, y  float64
	text  string
	color color.Color
}

// labels collects those of all curves, in a style somewhat smaller than that of the axes. Marks without a label are kept free
// as well.
func (p Plot) labels(style text.Style) labels {
	style.Font.Size *= 0.9
	l := labels{style: style}
	any := false
	for curve, c := range p.Curves {
		for i, q := range c.Points {
			label := labelled{x: q[0], y: q[1], color: colors[curve%len(colors)]}
			if c.Labels != nil {
				label.text, any = c.Labels[i], true
			}
			l.points = append(l.points, label)
			if c.Bars != nil {
				low := c.Bars[i][0]
				if p.LogY && low <= 0 { // as errorBars draws it
					low = q[1] / 3
				}
				l.bars = append(l.bars, [3]float64{q[0], low, c.Bars[i][1]})
			}
		}
	}
	if !any {
		return labels{}
	}
	return l
}

// Plot draws the labels.
func (l labels) Plot(c draw.Canvas, pic *plot.Plot) {
	toX, toY := pic.Transforms(&c)
	var marks, bars, placed []vg.Rectangle
	const half = vg.Length(5) // of a mark
	at := make([]vg.Point, len(l.points))
	for i, p := range l.points {
		at[i] = vg.Point{X: toX(p.x), Y: toY(p.y)}
		marks = append(marks, vg.Rectangle{Min: at[i].Add(vg.Point{X: -half, Y: -half}), Max: at[i].Add(vg.Point{X: half, Y: half})})
	}
	for _, b := range l.bars {
		x := toX(b[0])
		bars = append(bars, vg.Rectangle{Min: vg.Point{X: x - half/2, Y: toY(b[1])}, Max: vg.Point{X: x + half/2, Y: toY(b[2])}})
	}
	style := l.style
	style.XAlign, style.YAlign = text.XCenter, text.YCenter
	for i, p := range l.points {
		if p.text == "" {
			continue
		}
		size := style.Rectangle(p.text).Size()
		size.X = size.X * 8 / 7 // for fonts that stand in for ours
		best, least := vg.Rectangle{}, vg.Length(math.Inf(1))
		for _, center := range around(at[i], size, half) {
			box := vg.Rectangle{Min: center.Add(vg.Point{X: -size.X / 2, Y: -size.Y / 2}), Max: center.Add(vg.Point{X: size.X / 2, Y: size.Y / 2})}
			cost := 100 * outside(box, c.Rectangle)
			for _, other := range marks {
				cost += shared(box, other)
			}
			for _, other := range bars {
				cost += shared(box, other) / 4
			}
			for _, other := range placed {
				cost += 2 * shared(box, other)
			}
			if cost < least {
				best, least = box, cost
			}
			if cost == 0 {
				break
			}
		}
		placed = append(placed, best)
		style.Color = p.color
		leader(c, at[i], best, half, p.color)
		middle := vg.Point{X: (best.Min.X + best.Max.X) / 2, Y: (best.Min.Y + best.Max.Y) / 2}
		c.FillText(style, middle, p.text)
	}
}

// leader joins a label that stands away from its mark with it.
func leader(c draw.Canvas, at vg.Point, box vg.Rectangle, half vg.Length, of color.Color) {
	near := vg.Point{X: min(max(at.X, box.Min.X), box.Max.X), Y: min(max(at.Y, box.Min.Y), box.Max.Y)}
	d := near.Sub(at)
	away := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	if away < 3*half {
		return
	}
	from := at.Add(d.Scale(half / away))
	c.StrokeLine2(draw.LineStyle{Color: of, Width: vg.Points(0.5)}, from.X, from.Y, near.X, near.Y)
}

// around lists the places for the center of a label, the best ones first: to the right, to the left, above, below, and the same
// at an angle and further off.
func around(at vg.Point, size vg.Point, half vg.Length) (centers []vg.Point) {
	for _, gap := range []vg.Length{1, 6, 12, 20, 30, 42} {
		wide, high := size.X/2+half+gap/2, size.Y/2+half/2+gap
		for _, side := range [][2]vg.Length{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}, {0.6, 1}, {-0.6, 1}, {0.6, -1}, {-0.6, -1}} {
			centers = append(centers, at.Add(vg.Point{X: side[0] * wide, Y: side[1] * high}))
		}
	}
	return centers
}

// shared returns the area that two rectangles have in common.
func shared(a, b vg.Rectangle) vg.Length {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	return max(0, w) * max(0, h)
}

// outside returns how far a rectangle leaves another.
func outside(a, within vg.Rectangle) vg.Length {
	return max(0, within.Min.X-a.Min.X) + max(0, a.Max.X-within.Max.X) + max(0, within.Min.Y-a.Min.Y) + max(0, a.Max.Y-within.Max.Y)
}
