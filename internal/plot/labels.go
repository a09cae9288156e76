package plot

import (
	"image/color"
	"math"
	"math/rand/v2"
)

// rect is a rectangle.
type rect struct{ min, max point }

// labelled is a point of the picture, its text (may be empty), and the color of both.
type labelled struct {
	at    point
	text  text
	color color.RGBA
}

// halfMark is half the width of a mark, including a margin.
const halfMark = 5.0

// labelSize is the size of the font of labels.
const labelSize = 9

// orders is the number of orders in which placing the labels is tried: labels that are placed first have the most room.
const orders = 60

// drawLabels writes texts beside points: as near as possible, without covering marks, intervals and other labels where
// that is possible. Labels also avoid the marks of points that have none.
func drawLabels(c canvas, points []labelled, bars []rect, within rect) {
	s := scene{bars: bars, within: within}
	var order []int
	sizes := make([]point, len(points))
	for i, p := range points {
		s.at = append(s.at, p.at)
		if p.text.text != "" {
			order = append(order, i)
			sizes[i] = point{p.text.width() * 8 / 7, p.text.size * (ascent + descent)} // other fonts may be wider
		}
	}
	if len(order) == 0 {
		return
	}
	best, least := map[int]rect{}, math.Inf(1)
	r := rand.New(rand.NewPCG(1, 2))
	for range orders {
		if boxes, cost := s.place(order, sizes); cost < least {
			best, least = boxes, cost
		}
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for i, p := range points {
		box, ok := best[i]
		if !ok {
			continue
		}
		if from, to := leader(p.at, box); from != to {
			c.stroke([]point{from, to}, stroke{color: p.color, width: 0.5})
		}
		c.text(point{(box.min.x + box.max.x) / 2, box.max.y - p.text.size*descent}, p.text)
	}
}

// scene has what labels must avoid: marks, intervals and the edges of the plot.
type scene struct {
	at     []point
	bars   []rect
	within rect
}

// place returns a box for each label, placed greedily in the given order, and the sum of their costs.
func (s scene) place(order []int, sizes []point) (boxes map[int]rect, sum float64) {
	boxes = map[int]rect{}
	for _, i := range order {
		best, least := rect{}, math.Inf(1)
		for _, center := range around(s.at[i], sizes[i], halfMark) {
			box := rect{center.minus(sizes[i].times(0.5)), center.plus(sizes[i].times(0.5))}
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
func (s scene) cost(i int, box rect, placed map[int]rect) float64 {
	from, to := leader(s.at[i], box)
	line := to.minus(from)
	cost := 100*outside(box, s.within) + line.length()
	for j, at := range s.at {
		mark := rect{at.minus(point{halfMark, halfMark}), at.plus(point{halfMark, halfMark})}
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
func leader(at point, box rect) (from, to point) {
	to = point{min(max(at.x, box.min.x), box.max.x), min(max(at.y, box.min.y), box.max.y)}
	d := to.minus(at)
	if d.length() < 2*halfMark {
		return at, at
	}
	return at.plus(d.times(halfMark / d.length())), to
}

// touches reports whether the line between two different points enters a box. It tests 17 points of the line.
func touches(from, to point, box rect) bool {
	const steps = 16
	for i := range steps + 1 {
		p := from.plus(to.minus(from).times(float64(i) / steps))
		if from != to && p.x > box.min.x && p.x < box.max.x && p.y > box.min.y && p.y < box.max.y {
			return true
		}
	}
	return false
}

// cross reports whether the lines from a to b and from c to d cross.
func cross(a, b, c, d point) bool {
	side := func(p, q, r point) bool { return (q.x-p.x)*(r.y-p.y) > (q.y-p.y)*(r.x-p.x) }
	return a != b && c != d && side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
}

// around returns the positions to try for the center of a label, the best first: right, left, above, below, the
// diagonals, and then the same farther away.
func around(at point, size point, half float64) (centers []point) {
	for _, gap := range []float64{1, 6, 12, 20, 30, 42} {
		wide, high := size.x/2+half+gap/2, size.y/2+half/2+gap
		for _, side := range [][2]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1},
			{0.6, 1}, {-0.6, 1}, {0.6, -1}, {-0.6, -1}} {
			centers = append(centers, at.plus(point{side[0] * wide, -side[1] * high}))
		}
	}
	return centers
}

// shared returns the area of the intersection of two rectangles.
func shared(a, b rect) float64 {
	w := min(a.max.x, b.max.x) - max(a.min.x, b.min.x)
	h := min(a.max.y, b.max.y) - max(a.min.y, b.min.y)
	return max(0, w) * max(0, h)
}

// outside returns how far a rectangle extends beyond another, summed over the four sides.
func outside(a, within rect) float64 {
	return max(0, within.min.x-a.min.x) + max(0, a.max.x-within.max.x) +
		max(0, within.min.y-a.min.y) + max(0, a.max.y-within.max.y)
}
