// Package costs has the times and the memory of filters and builds, measured on one machine, that package plan
// interpolates. Package eval/lab/measure makes the table. It is a room of its own, although it is small, because plan is
// public and eval writes the table.
package costs

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

//go:generate go -C ../../eval/lab run ./cmd/bloomery-lab costs --out ../../internal/costs/costs.json

//go:embed costs.json
var measured []byte

// Table has times measured on one machine. Other machines are faster or slower, with similar ratios.
type Table struct {
	Machine string `json:"machine"`
	Go      string `json:"go"`
	Date    string `json:"date"` // of the measurement, YYYY-MM-DD
	// Keyed is the additional time of the keyed hash for a key of 16 bytes, in nanoseconds.
	Keyed float64 `json:"keyed_ns"`
	// Memory is the peak memory of a build in bytes per key, without the filter, by the spec of a kind without its
	// size.
	Memory map[string]float64 `json:"build_bytes"`
	// Kinds are the measured points, by the spec of a kind without its size.
	Kinds map[string][]Point `json:"kinds"`
}

// Point has the costs of a filter of one size, in nanoseconds: of a query for a present and an absent key, with warm
// caches, and of a build per key on one core.
type Point struct {
	Keys    uint64  `json:"keys"`
	FPR     float64 `json:"fpr"`
	Present float64 `json:"present_ns"`
	Absent  float64 `json:"absent_ns"`
	Build   float64 `json:"build_ns"`
}

// Measured returns the table of this package. Do not change it. It is read at the first call, by a function: a variable
// would link the table and its reader into programs that never plan.
func Measured() Table {
	once.Do(func() {
		if err := json.Unmarshal(measured, &table); err != nil {
			panic(err) // the table is embedded; TestMeasured reads it
		}
	})
	return table
}

var (
	once  sync.Once
	table Table
)

// At returns the costs of a kind at a number of keys and a rate. Between points it interpolates linearly over the
// logarithms of both. Outside it takes the nearest point. It returns false if the table does not contain the kind.
func (t Table) At(k filter.Spec, keys uint64, fpr float64) (Point, bool) {
	points := t.Kinds[k.String()]
	if len(points) == 0 {
		return Point{}, false
	}
	x, y := math.Log(float64(max(keys, 1))), math.Log(fpr)
	// Interpolate over the rate for each number of keys, then over the number of keys.
	var sizes []uint64
	for _, p := range points {
		if !slices.Contains(sizes, p.Keys) {
			sizes = append(sizes, p.Keys)
		}
	}
	slices.Sort(sizes)
	at := func(n uint64) Point {
		var row []Point
		for _, p := range points {
			if p.Keys == n {
				row = append(row, p)
			}
		}
		slices.SortFunc(row, func(a, b Point) int { return cmp.Compare(b.FPR, a.FPR) })
		return between(row, y, func(p Point) float64 { return math.Log(p.FPR) }, -1)
	}
	rows := make([]Point, len(sizes))
	for i, n := range sizes {
		rows[i] = at(n)
	}
	p := between(rows, x, func(p Point) float64 { return math.Log(float64(p.Keys)) }, 1)
	if keys < sizes[0] { // the constant cost of a build
		p.Build *= float64(sizes[0]) / float64(max(keys, 1))
	}
	p.Keys, p.FPR = keys, fpr
	return p, true
}

// OutOfCache returns the costs at the largest number of keys in the table, with filters larger than the caches.
func (t Table) OutOfCache(k filter.Spec, fpr float64) (Point, bool) {
	var most uint64
	for _, p := range t.Kinds[k.String()] {
		most = max(most, p.Keys)
	}
	return t.At(k, most, fpr)
}

// between interpolates in a row of points that is sorted by a coordinate, ascending, or descending if sign is -1.
func between(row []Point, at float64, coordinate func(Point) float64, sign float64) Point {
	i := 0
	for i < len(row) && sign*coordinate(row[i]) < sign*at {
		i++
	}
	switch i {
	case 0:
		return row[0]
	case len(row):
		return row[i-1]
	}
	a, b := row[i-1], row[i]
	w := (at - coordinate(a)) / (coordinate(b) - coordinate(a))
	mix := func(x, y float64) float64 { return x + w*(y-x) }
	build := math.Exp(mix(math.Log(a.Build), math.Log(b.Build))) // for few keys it falls as 1/keys
	return Point{Keys: a.Keys, FPR: a.FPR, Present: mix(a.Present, b.Present), Absent: mix(a.Absent, b.Absent), Build: build}
}
