package families

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

//go:generate go -C ../../eval/lab run ./cmd/bloomery-lab costs --out ../../internal/families/costs.json

//go:embed costs.json
var costsJSON []byte

// CostTable contains the measured times and memory of filters and builds on one machine; package plan interpolates in
// it. Other machines are faster or slower, with similar ratios. Package eval/lab/measure makes the table.
type CostTable struct {
	Machine string `json:"machine"`
	Go      string `json:"go"`
	Date    string `json:"date"` // date of the measurement, YYYY-MM-DD
	// Keyed is the additional time of the keyed hash for a key of 16 bytes, in nanoseconds.
	Keyed float64 `json:"keyed_ns"`
	// Memory is the peak memory of a build in bytes per key, without the filter, by the spec of a kind without its
	// size.
	Memory map[string]float64 `json:"build_bytes"`
	// Kinds are the measured points, by the spec of a kind without its size.
	Kinds map[string][]CostPoint `json:"kinds"`
}

// CostPoint describes the costs of a filter of one size: the times of queries for a present and an absent key, with
// warm caches, and the time per key of a build on one core.
type CostPoint struct {
	Keys    uint64  `json:"keys"`
	FPR     float64 `json:"fpr"`
	Present float64 `json:"present_ns"`
	Absent  float64 `json:"absent_ns"`
	Build   float64 `json:"build_ns"`
}

// Costs returns the measured table. Do not change it. The first call parses the table. A package variable would link
// the table and its parser into programs that never plan.
func Costs() CostTable {
	costsOnce.Do(func() {
		if err := json.Unmarshal(costsJSON, &costs); err != nil {
			panic(err) // the table is embedded; TestCosts reads it
		}
	})
	return costs
}

var (
	costsOnce sync.Once
	costs     CostTable
)

// At returns the costs of a kind at a number of keys and a rate. Between points it interpolates linearly over the
// logarithms of both. Outside of them it uses the nearest point. It returns false if the table does not contain the
// kind.
func (t CostTable) At(k filter.Spec, keys uint64, fpr float64) (CostPoint, bool) {
	rows := map[uint64][]CostPoint{} // by number of keys
	for _, p := range t.Kinds[k.String()] {
		rows[p.Keys] = append(rows[p.Keys], p)
	}
	if len(rows) == 0 {
		return CostPoint{}, false
	}

	// Interpolate over the rate for each number of keys, then over the number of keys.
	var atRate []CostPoint
	sizes := slices.Sorted(maps.Keys(rows))
	for _, n := range sizes {
		slices.SortFunc(rows[n], func(a, b CostPoint) int { return cmp.Compare(b.FPR, a.FPR) })
		atRate = append(atRate, between(rows[n], -math.Log(fpr), func(p CostPoint) float64 { return -math.Log(p.FPR) }))
	}

	logKeys := func(p CostPoint) float64 { return math.Log(float64(p.Keys)) }
	p := between(atRate, math.Log(float64(max(keys, 1))), logKeys)
	if keys < sizes[0] { // a build of few keys has a constant cost, so the time per key rises
		p.Build *= float64(sizes[0]) / float64(max(keys, 1))
	}
	p.Keys, p.FPR = keys, fpr
	return p, true
}

// OutOfCache returns the costs at the largest number of keys in the table, with filters larger than the caches.
func (t CostTable) OutOfCache(k filter.Spec, fpr float64) (CostPoint, bool) {
	var most uint64
	for _, p := range t.Kinds[k.String()] {
		most = max(most, p.Keys)
	}
	return t.At(k, most, fpr)
}

// between interpolates in a row of points that is sorted by a coordinate, ascending.
func between(row []CostPoint, at float64, coordinate func(CostPoint) float64) CostPoint {
	i := 0
	for i < len(row) && coordinate(row[i]) < at {
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
	a.Build = math.Exp(mix(math.Log(a.Build), math.Log(b.Build))) // for few keys the time falls as 1/keys
	a.Present, a.Absent = mix(a.Present, b.Present), mix(a.Absent, b.Absent)
	return a
}
