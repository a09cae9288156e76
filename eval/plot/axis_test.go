package plot

import (
	"fmt"
	"image/color"
	"math"
	"testing"
)

// texts is a canvas that records where texts are, in fonts that are wider than ours.
type texts struct {
	boxes []rect
	lines []string
}

func (*texts) fill([]point, color.RGBA)          {}
func (*texts) stroke([]point, stroke)            {}
func (*texts) circle(point, float64, color.RGBA) {}

func (c *texts) text(at point, t text) {
	if t.text == "" {
		return
	}
	wide := t.wide()
	box := rect{point{at.x - t.at*wide, at.y - 0.7*t.size}, point{at.x + (1-t.at)*wide, at.y}}
	if t.up {
		box = rect{point{at.x - 0.7*t.size, at.y - (1-t.at)*wide}, point{at.x, at.y + t.at*wide}}
	}
	c.boxes, c.lines = append(c.boxes, box), append(c.lines, t.text)
}

// TestTexts requires that all texts are within the picture, readable, and beside each other.
func TestTexts(t *testing.T) {
	points := func(values ...float64) []Curve {
		c := Curve{Name: "a curve with a name that fills the whole width of the picture, and that goes on after it"}
		for _, v := range values {
			c.AddPoint(v, 1/v)
		}
		return []Curve{c, {Name: "another", Points: c.Points}, {Name: "a third curve", Points: c.Points}}
	}
	long := "Size of a filter of n = 1000000 keys in m = 8000000 bits, by the rate that is observed"
	for i, p := range []Plot{
		{LogX: true, Curves: points(1e4, 2e7)},
		{LogX: true, LogY: true, Curves: points(1e-4, 0.1)},
		{LogX: true, LogY: true, Curves: points(2e-30, 1)},
		{LogX: true, Curves: points(100_000, 320_000)},
		{Curves: points(97_000, 103_000)},
		{Curves: points(0, 800_000)},
		{Curves: points(1, 2, 9)},
		{Names: []string{"none", "2% slow", "1% lost", "2% slow, 10% lost"}, Curves: points(1, 4)},
		{Names: []string{"random", "product", "double, odd", "double, any", "CRC", "CRC + RS", "MD5 slices", "2-wise",
			"3-wise"},
			Curves: points(1, 9)},
	} {
		p.Title, p.X, p.Y = long, long, long
		c := &texts{}
		d, err := p.layOut()
		if err != nil {
			t.Fatal(err)
		}
		d.canvas = c
		d.draw()
		for j, box := range c.boxes {
			if box.min.x < 0 || box.min.y < 0 || box.max.x > width || box.max.y > d.bottom {
				t.Errorf("plot %d: %q is outside: %v", i, c.lines[j], box)
			}
			for k, other := range c.boxes[:j] {
				if shared(box, other) > 0 {
					t.Errorf("plot %d: %q covers %q", i, c.lines[j], c.lines[k])
				}
			}
		}
		if len(c.boxes) < 8 {
			t.Errorf("plot %d: texts %q", i, c.lines)
		}
	}
}

// TestZero requires a tick at 0 on linear axes whose values begin near 0, and on no other axis.
func TestZero(t *testing.T) {
	for _, v := range []struct {
		low, high float64
		log, zero bool
	}{{3, 20, false, true}, {0, 20, false, true}, {-20, -3, false, true}, {-1, 1, false, true}, {18, 20, false, false},
		{-20, -18, false, false}, {3, 20, true, false}} {
		p := Plot{LogY: v.log, Curves: []Curve{{Points: [][2]float64{{1, v.low}, {2, v.high}}}}}
		_, y, _ := p.axes()
		zero := false
		for _, tick := range y.Ticks {
			zero = zero || math.Abs(tick.Value) < 1e-9 && tick.Label == "0"
		}
		if zero != v.zero {
			t.Errorf("%s: %v", fmt.Sprint(v), y.Ticks)
		}
	}
}
