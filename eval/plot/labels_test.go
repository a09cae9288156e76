package plot

import (
	"fmt"
	"strings"
	"testing"
)

// TestLabels requires that the label of every drawn point appears once, that other labels do not appear, and that
// drawing is deterministic.
func TestLabels(t *testing.T) {
	c := Curve{Name: "points", Dots: true}
	for i := range 20 {
		c.AddPoint(8+float64(i%5)/10, float64(i))
		c.Bars = append(c.Bars, [2]float64{float64(i) * 0.9, float64(i) * 1.1})
		c.Labels = append(c.Labels, fmt.Sprintf("label-%d.", i))
	}
	var svg strings.Builder
	if err := (Plot{Name: "labels", LogY: true, Curves: []Curve{c}}).Draw(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	var again strings.Builder
	if err := (Plot{Name: "labels", LogY: true, Curves: []Curve{c}}).Draw(&again, "svg"); err != nil ||
		again.String() != svg.String() {
		t.Errorf("drawn again, it differs: %v", err)
	}
	for i, label := range c.Labels {
		if want := min(i, 1); strings.Count(svg.String(), label) != want { // the point at 0 is not on the axis
			t.Errorf("%s is there %d times, want %d", label, strings.Count(svg.String(), label), want)
		}
	}
}

func TestAround(t *testing.T) {
	at, size := point{100, 100}, point{40, 10}
	mark := rect{point{95, 95}, point{105, 105}}
	for i, center := range centers(at, size, 5)[:12] {
		box := rect{center.minus(size.times(0.5)), center.plus(size.times(0.5))}
		if i < 2 && shared(box, mark) > 0 {
			t.Errorf("place %d covers the mark", i)
		}
	}
	if a, b := leader(at, rect{point{130, 95}, point{150, 105}}); a.x != 105 || b.x != 130 || b.y != 100 {
		t.Errorf("leader from %v to %v", a, b)
	}
	if a, b := leader(at, mark); a != b {
		t.Errorf("a leader to a label nearby, from %v to %v", a, b)
	}
	p := func(x, y float64) point { return point{x, y} }
	if !cross(p(0, 0), p(2, 2), p(0, 2), p(2, 0)) || cross(p(0, 0), p(1, 1), p(3, 0), p(3, 5)) ||
		!touches(p(80, 100), p(120, 100), mark) ||
		touches(p(80, 90), p(120, 90), mark) {
		t.Error("lines cross where they do not, or the other way round")
	}
	if got := outside(mark, rect{point{97, 0}, point{200, 101}}); got != 6 {
		t.Errorf("outside by %v, want 2 + 4", got)
	}
}
