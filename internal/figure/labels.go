package figure

import (
	"image/color"
	"math"
	"math/rand/v2"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// labels places texts beside points: as near as possible, without covering marks and other labels where that is
// possible.
type labels struct {
	style  text.Style
	points []labelled
	bars   [][3]float64 // x and the interval of y: labels avoid intervals, too
}

// labelled is a point in the units of the axes, its text (may be empty), and the color of both.
type labelled struct {
	x, y  float64
	text  string
	color color.Color
}

// labels collects the points and labels of all curves. The font is 0.9 times that of the style. Labels also avoid the
// marks of points that have none. Without any label it returns an empty value.
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
				if p.LogY && low <= 0 { // as errorBars does
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

// halfMark is half the width of a mark, including a margin.
const halfMark = vg.Length(5)

// orders is the number of orders in which placing the labels is tried: labels that are placed first have the most room.
const orders = 60

// Plot implements plot.Plotter.
func (l labels) Plot(c draw.Canvas, pic *plot.Plot) {
	toX, toY := pic.Transforms(&c)
	s := scene{within: c.Rectangle}
	for _, p := range l.points {
		s.at = append(s.at, vg.Point{X: toX(p.x), Y: toY(p.y)})
	}
	for _, b := range l.bars {
		x := toX(b[0])
		s.bars = append(
			s.bars,
			vg.Rectangle{
				Min: vg.Point{X: x - halfMark/2, Y: toY(b[1])},
				Max: vg.Point{X: x + halfMark/2, Y: toY(b[2])},
			},
		)
	}
	style := l.style
	style.XAlign, style.YAlign = text.XCenter, text.YCenter
	var order []int
	sizes := make([]vg.Point, len(l.points))
	for i, p := range l.points {
		if p.text != "" {
			order = append(order, i)
			sizes[i] = style.Rectangle(p.text).Size()
			sizes[i].X = sizes[i].X * 8 / 7 // for replacement fonts, which may be wider
		}
	}
	best, least := map[int]vg.Rectangle{}, vg.Length(math.Inf(1))
	r := rand.New(rand.NewPCG(1, 2))
	for range orders {
		if boxes, cost := s.place(order, sizes); cost < least {
			best, least = boxes, cost
		}
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for i, p := range l.points {
		box, ok := best[i]
		if !ok {
			continue
		}
		style.Color = p.color
		if from, to := leader(s.at[i], box); from != to {
			c.StrokeLine2(draw.LineStyle{Color: p.color, Width: vg.Points(0.5)}, from.X, from.Y, to.X, to.Y)
		}
		c.FillText(style, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}, p.text)
	}
}

// scene has what labels must avoid: marks, intervals and the edges of the plot.
type scene struct {
	at     []vg.Point
	bars   []vg.Rectangle
	within vg.Rectangle
}

// place returns a box for each label, placed greedily in the given order, and the sum of their costs.
func (s scene) place(order []int, sizes []vg.Point) (boxes map[int]vg.Rectangle, sum vg.Length) {
	boxes = map[int]vg.Rectangle{}
	for _, i := range order {
		best, least := vg.Rectangle{}, vg.Length(math.Inf(1))
		for _, center := range around(s.at[i], sizes[i], halfMark) {
			box := vg.Rectangle{Min: center.Sub(sizes[i].Scale(0.5)), Max: center.Add(sizes[i].Scale(0.5))}
			if cost := s.cost(i, box, boxes); cost < least {
				best, least = box, cost
			}
		}
		boxes[i] = best
		sum += least
	}
	return boxes, sum
}

// cost returns the cost of a box for label i: areas that it covers, the distance from the mark, and leaders that cross
// others or touch marks.
func (s scene) cost(i int, box vg.Rectangle, placed map[int]vg.Rectangle) vg.Length {
	from, to := leader(s.at[i], box)
	line := to.Sub(from)
	cost := 100*outside(box, s.within) + vg.Length(math.Hypot(float64(line.X), float64(line.Y)))
	for j, at := range s.at {
		mark := vg.Rectangle{
			Min: at.Sub(vg.Point{X: halfMark, Y: halfMark}),
			Max: at.Add(vg.Point{X: halfMark, Y: halfMark}),
		}
		cost += shared(box, mark)
		if j != i && touches(from, to, mark) {
			cost += 50
		}
	}
	for _, bar := range s.bars {
		cost += shared(box, bar) / 4
	}
	for j := range s.at { // not over the map: the order of a sum changes its last digit, and that would move labels
		other, ok := placed[j]
		if !ok {
			continue
		}
		cost += 2 * shared(box, other)
		otherFrom, otherTo := leader(s.at[j], other)
		if touches(from, to, other) {
			cost += 50
		}
		if touches(otherFrom, otherTo, box) {
			cost += 50
		}
		if cross(from, to, otherFrom, otherTo) {
			cost += 50
		}
	}
	return cost
}

// leader returns the ends of the line that joins a mark with its label, or the same point twice if the label is close
// enough to need no line.
func leader(at vg.Point, box vg.Rectangle) (from, to vg.Point) {
	to = vg.Point{X: min(max(at.X, box.Min.X), box.Max.X), Y: min(max(at.Y, box.Min.Y), box.Max.Y)}
	d := to.Sub(at)
	away := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	if away < 2*halfMark {
		return at, at
	}
	return at.Add(d.Scale(halfMark / away)), to
}

// touches reports whether the line between two different points enters a box. It tests 17 points of the line.
func touches(from, to vg.Point, box vg.Rectangle) bool {
	const steps = 16
	for i := range steps + 1 {
		p := from.Add(to.Sub(from).Scale(vg.Length(i) / steps))
		if from != to && p.X > box.Min.X && p.X < box.Max.X && p.Y > box.Min.Y && p.Y < box.Max.Y {
			return true
		}
	}
	return false
}

// cross reports whether the lines from a to b and from c to d cross.
func cross(a, b, c, d vg.Point) bool {
	side := func(p, q, r vg.Point) bool { return (q.X-p.X)*(r.Y-p.Y) > (q.Y-p.Y)*(r.X-p.X) }
	return a != b && c != d && side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
}

// around returns the positions to try for the center of a label, the best first: right, left, above, below, the
// diagonals, and then the same farther away.
func around(at vg.Point, size vg.Point, half vg.Length) (centers []vg.Point) {
	for _, gap := range []vg.Length{1, 6, 12, 20, 30, 42} {
		wide, high := size.X/2+half+gap/2, size.Y/2+half/2+gap
		for _, side := range [][2]vg.Length{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1},
			{0.6, 1}, {-0.6, 1}, {0.6, -1}, {-0.6, -1}} {
			centers = append(centers, at.Add(vg.Point{X: side[0] * wide, Y: side[1] * high}))
		}
	}
	return centers
}

// shared returns the area of the intersection of two rectangles.
func shared(a, b vg.Rectangle) vg.Length {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	return max(0, w) * max(0, h)
}

// outside returns how far a rectangle extends beyond another, summed over the four sides.
func outside(a, within vg.Rectangle) vg.Length {
	return max(
		0,
		within.Min.X-a.Min.X,
	) + max(
		0,
		a.Max.X-within.Max.X,
	) + max(
		0,
		within.Min.Y-a.Min.Y,
	) + max(
		0,
		a.Max.Y-within.Max.Y,
	)
}
