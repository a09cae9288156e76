package anneal

import (
	"math"
	"testing"
)

// TestTable interpolates polynomials of third degree exactly, smooth functions closely, and takes the nearest point
// outside of the grid.
func TestTable(t *testing.T) {
	axes := []Axis{{0, 1, 2}, {-1, 0, 0.5, 2, 3}, Logs(1, 2, 4, 8, 16, 32)}
	f := func(x, y, z float64) float64 { return 0.3 + 0.1*x*x + 0.01*y*y*y - 0.02*x*z }
	values := MeasureTable(func(at []float64) float64 { return f(at[0], at[1], at[2]) }, axes...)
	table, err := ParseTable(values, axes...)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{0, 0.3, 1.7, 2} {
		for _, y := range []float64{-1, -0.2, 0.5, 2.9} {
			for _, z := range []float64{1, 3, 31} {
				got, want := table.First(x).At(y, math.Log(z)), f(x, y, math.Log(z))
				if math.Abs(got-want) > 2*step {
					t.Errorf("at %g, %g, %g: %g, want %g", x, y, z, got, want)
				}
			}
		}
	}
	if got, want := table.Pick(1).At(9, 0), f(1, 3, 0); math.Abs(got-want) > 2*step {
		t.Errorf("outside: %g, want %g", got, want)
	}
	if _, err := ParseTable(make([]byte, 3), axes...); err == nil {
		t.Error("a table of 3 bytes")
	}
}
