package lab

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestLabels holds that every point that is drawn has its label, and others have none.
func TestLabels(t *testing.T) {
	c := Curve{Name: "points", Dots: true}
	for i := range 20 {
		c.Points = append(c.Points, [2]float64{8 + float64(i%5)/10, float64(i)})
		c.Bars = append(c.Bars, [2]float64{float64(i) * 0.9, float64(i) * 1.1})
		c.Labels = append(c.Labels, fmt.Sprintf("label-%d.", i))
	}
	var svg strings.Builder
	if err := (Plot{Name: "labels", LogY: true, Curves: []Curve{c}}).Draw(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	for i, label := range c.Labels {
		if want := min(i, 1); strings.Count(svg.String(), label) != want { // the point at 0 is not on the axis
			t.Errorf("%s stands there %d times, want %d", label, strings.Count(svg.String(), label), want)
		}
	}
}

func TestAround(t *testing.T) {
	at, size := vg.Point{X: 100, Y: 100}, vg.Point{X: 40, Y: 10}
	mark := vg.Rectangle{Min: vg.Point{X: 95, Y: 95}, Max: vg.Point{X: 105, Y: 105}}
	for i, center := range around(at, size, 5)[:12] {
		box := vg.Rectangle{Min: center.Sub(size.Scale(0.5)), Max: center.Add(size.Scale(0.5))}
		if i < 2 && shared(box, mark) > 0 {
			t.Errorf("place %d covers the mark", i)
		}
	}
	if got := outside(mark, vg.Rectangle{Min: vg.Point{X: 97, Y: 0}, Max: vg.Point{X: 200, Y: 101}}); got != 6 {
		t.Errorf("outside by %v, want 2 + 4", got)
	}
}
