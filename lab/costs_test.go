package lab

import (
	"testing"

	"github.com/bloomery/bloomery/plan"
)

// TestWithPoint keeps the lesser times of a point, and gives a search that was cut short the build of fewer keys at its rate.
func TestWithPoint(t *testing.T) {
	var points []plan.Point
	for _, p := range []plan.Point{
		{Keys: 100, FPR: 0.1, Present: 5, Absent: 9, Build: 70},
		{Keys: 100, FPR: 0.01, Present: 50, Absent: 50, Build: 700},
		{Keys: 100, FPR: 0.1, Present: 7, Absent: 6, Build: 80},
		{Keys: 1000, FPR: 0.1, Present: 8, Absent: 8},
	} {
		points = withPoint(points, p)
	}
	want := []plan.Point{
		{Keys: 100, FPR: 0.1, Present: 5, Absent: 6, Build: 70}, {Keys: 100, FPR: 0.01, Present: 50, Absent: 50, Build: 700}, {Keys: 1000, FPR: 0.1, Present: 8, Absent: 8, Build: 70},
	}
	if len(points) != len(want) {
		t.Fatalf("%+v", points)
	}
	for i, p := range points {
		if p != want[i] {
			t.Errorf("%+v, want %+v", p, want[i])
		}
	}
}
