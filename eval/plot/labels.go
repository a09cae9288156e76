package plot

import (
	"math"
	"math/rand/v2"
)

type rect struct{ min, max point }

// around returns the rectangle with the given center and size.
func around(center, size point) rect {
	return rect{center.minus(size.times(0.5)), center.plus(size.times(0.5))}
}

// halfMark is half the width of a mark, including a margin.
const halfMark = 5.0

// labelSize is the size of the font of labels.
const labelSize = 11.5

// orders is the number of orders in which the labels are placed. Labels that are placed first find the most room.
const orders = 60

// drawLabels writes texts beside points: as near as possible, and if possible without covering marks, intervals and
// other labels. Labels also avoid the marks of points that have none.
func (d *drawing) drawLabels() {
	s := scene{within: d.area}
	var texts []text
	var order []int
	for i, c := range d.Curves {
		for k, q := range c.Points {
			at, label := d.at(q), text{size: labelSize, color: d.curve(i), at: middle}
			if c.Labels != nil {
				label.text = c.Labels[k]
			}
			size := point{y: labelSize * (ascent + descent)}
			if label.text != "" {
				order = append(order, len(texts))
				size.x = label.wide()
			}
			texts, s.at, s.sizes = append(texts, label), append(s.at, at), append(s.sizes, size)
			if c.Bars != nil {
				low, high := d.bar(c, k)
				s.bars = append(s.bars, rect{point{at.x - halfMark/2, d.y.At(high)}, point{at.x + halfMark/2, d.y.At(low)}})
			}
		}
	}
	best, least := map[int]rect{}, math.Inf(1)
	r := rand.New(rand.NewPCG(1, 2))
	for range orders {
		if boxes, cost := s.place(order); cost < least {
			best, least = boxes, cost
		}
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for i, t := range texts {
		box, ok := best[i]
		if !ok {
			continue
		}
		if from, to := leader(s.at[i], box); from != to {
			d.stroke([]point{from, to}, stroke{color: t.color, width: 0.5})
		}
		d.text(point{(box.min.x + box.max.x) / 2, box.max.y - t.size*descent}, t)
	}
}

// scene lists the shapes that labels must avoid: marks, intervals and the edges of the plot.
type scene struct {
	at, sizes []point // marks, and the sizes of their labels
	bars      []rect
	within    rect
}

// place returns a box for each label, placed greedily in the given order, and the sum of their costs.
func (s scene) place(order []int) (boxes map[int]rect, sum float64) {
	boxes = map[int]rect{}
	for _, i := range order {
		best, least := rect{}, math.Inf(1)
		for _, center := range centers(s.at[i], s.sizes[i], halfMark) {
			box := around(center, s.sizes[i])
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
		mark := around(at, point{2 * halfMark, 2 * halfMark})
		cost += shared(box, mark)
		if j != i && touches(from, to, mark) {
			cost += 50
		}
	}
	for _, bar := range s.bars {
		cost += shared(box, bar) / 4
	}
	for j := range s.at { // not over the map: the order of a sum affects its last digit, and so the labels
		other, ok := placed[j]
		if !ok {
			continue
		}
		cost += 2 * shared(box, other)
		otherFrom, otherTo := leader(s.at[j], other)
		for _, bad := range []bool{touches(from, to, other), touches(otherFrom, otherTo, box),
			cross(from, to, otherFrom, otherTo)} {
			if bad {
				cost += 50
			}
		}
	}
	return cost
}

// leader returns the ends of the line that joins a mark with its label, or the same point twice if the label is so
// close that it needs no line.
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

// centers returns the positions to try for the center of a label, the best first: right, left, above, below, the
// diagonals, then the same positions farther away.
func centers(at, size point, half float64) (centers []point) {
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
