package anneal

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/internal/parallel"
)

// Axis contains the coordinates of a grid in one dimension, ascending, on a scale on which the function is smooth.
type Axis []float64

// Logs returns an axis of the logarithms of values.
func Logs(values ...float64) Axis {
	a := make(Axis, len(values))
	for i, v := range values {
		a[i] = math.Log(v)
	}
	return a
}

// Table interpolates a function of several coordinates that was measured at the points of a grid, so that a family can
// forecast a search without making one. The last axis changes fastest. A Table is immutable.
type Table struct {
	axes   []Axis
	values []float64
}

// step is the resolution of a stored value. Values are in [0, 65535·step] = [0, 1.6].
const step = 1.0 / 40000

// gridSize returns the number of points of a grid.
func gridSize(axes ...Axis) int {
	n := 1
	for _, a := range axes {
		n *= len(a)
	}
	return n
}

// ParseTable reads a table from the result of MeasureTable. It returns an error if text does not have the size of the
// grid.
func ParseTable(text []byte, axes ...Axis) (Table, error) {
	t := Table{axes, make([]float64, gridSize(axes...))}
	if len(text) != 2*len(t.values) {
		return Table{}, fmt.Errorf("a table of %d bytes, want %d; run go generate", len(text), 2*len(t.values))
	}
	for i := range t.values {
		t.values[i] = float64(binary.LittleEndian.Uint16(text[2*i:])) * step
	}
	return t, nil
}

// MeasureTable returns the stored form of the table of f, 16 bits per point of a grid. It calls f in GOMAXPROCS
// goroutines.
func MeasureTable(f func(at []float64) float64, axes ...Axis) []byte {
	text := make([]byte, 2*gridSize(axes...))
	parallel.Each(parallel.Workers(0), len(text)/2, func(_, i int) {
		value := math.Round(f(gridPoint(i, axes)) / step)
		binary.LittleEndian.PutUint16(text[2*i:], uint16(min(max(value, 0), math.MaxUint16)))
	})
	return text
}

// gridPoint returns the coordinates of a point of a grid, in the order of the values of a Table.
func gridPoint(i int, axes []Axis) []float64 {
	at := make([]float64, len(axes))
	for d := len(axes) - 1; d >= 0; d-- {
		at[d] = axes[d][i%len(axes[d])]
		i /= len(axes[d])
	}
	return at
}

// First fixes the first coordinate at x and returns the table of the other coordinates. It interpolates between the
// points of the axis; beyond the ends of the axis it uses the nearest point.
func (t Table) First(x float64) Table {
	from, weights, n := axisWeights(t.axes[0], x)
	rest := len(t.values) / len(t.axes[0])
	to := Table{t.axes[1:], make([]float64, rest)}
	for i := range n {
		for j, v := range t.values[(from+i)*rest:][:rest] {
			to.values[j] += float64(weights[i] * v)
		}
	}
	return to
}

// Pick is First at point i of the axis, without a copy.
func (t Table) Pick(i int) Table {
	rest := len(t.values) / len(t.axes[0])
	return Table{t.axes[1:], t.values[i*rest:][:rest]}
}

// At returns the value of a table of two coordinates.
func (t Table) At(x, y float64) (sum float64) {
	a, wx, n := axisWeights(t.axes[0], x)
	b, wy, m := axisWeights(t.axes[1], y)
	width := len(t.axes[1])
	for i := range n {
		row, v := t.values[(a+i)*width+b:][:m], 0.0
		for j := range row {
			v += float64(wy[j] * row[j])
		}
		sum += float64(wx[i] * v)
	}
	return sum
}

// axisWeights returns the points of an axis near x and their weights: the weights of Lagrange's polynomial of third
// degree through four points, or of a lower degree if the axis has fewer points.
func axisWeights(a Axis, x float64) (from int, weights [4]float64, n int) {
	x = min(max(x, a[0]), a[len(a)-1])
	n = min(4, len(a))
	i := 1
	for i < len(a)-1 && a[i] < x {
		i++
	}

	from = min(max(i-2, 0), len(a)-n)
	for i := range n {
		w := 1.0
		for j := range n {
			if i != j {
				w *= (x - a[from+j]) / (a[from+i] - a[from+j])
			}
		}
		weights[i] = w
	}
	return from, weights, n
}
