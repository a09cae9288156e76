// Package measure measures the table of costs of package plan: the time of a query and of a build of every kind of
// filter, and the memory of a build. It is a separate package so that importing plan does not link it.
//
// Points are measured in rounds, minutes apart, with new queries each time: a disturbance of a shared machine lasts
// longer than the measurement of one point, and if the same 200,000 queries were repeated, the caches would hold the
// part of the filter that they read.
package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/plan"
)

// Config holds the parameters of a measurement. A zero field has the default noted beside it.
type Config struct {
	Trials int  // measurements of each query; the shortest counts; 0: 5, 40 with Family, or 2 with Quick
	Quick  bool // measure only the smallest filters, to check that everything works
	// Family, if not empty, is the only family to measure. The result is families.Costs with the points of this family
	// replaced. Times are corrected for the speed of the machine: each point is measured together with a point of
	// Reference, and its time is divided by the ratio of the time of Reference to its time in the table.
	Family   string
	Progress func(float64) // called with the share done, in [0, 1], from one goroutine; nil: not called
}

// Reference is the kind by which a run with Config.Family compares this machine with the machine of the table. It has
// points of most sizes and rates.
var Reference = family.NewSpec("fuse")

// size is a number of keys, with the rates at which filters for this number are measured.
type size struct {
	keys  uint64
	rates []float64
}

// Query times change whenever the number of probes changes. The effect is largest in small filters, which are measured
// at more rates.
var (
	smallRates = []float64{0.05, 0.01, 0.003, 0.001, 0.0003, 0.0001, 0.00001, 0.000001}
	largeRates = []float64{0.01, 0.0001, 0.000001}
)

// sizes are the points of a full table. The last is larger than the caches of most machines.
var sizes = []size{
	{1000, smallRates}, {10_000, smallRates}, {100_000, smallRates}, {1_000_000, smallRates},
	{4_000_000, largeRates}, {12_000_000, largeRates}, {50_000_000, []float64{0.01, 0.0001}},
}

// rounds returns how many times the points of a size are measured. Short rounds are minutes apart.
func (s size) rounds() int {
	switch {
	case s.keys <= 100_000:
		return 3
	case s.keys <= 1_000_000:
		return 2
	}
	return 1
}

// Costs measures the table of package plan on one core. Every time is the shortest of several, since disturbances only
// add to it. A full table takes about twenty minutes and needs an otherwise idle machine. The error wraps
// filter.ErrFamily if Config.Family has no kinds, or is the cause of ctx if ctx ends.
func Costs(ctx context.Context, c Config) (families.CostTable, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a build is measured on one core
	points, held := slices.Clone(sizes), uint64(heldKeys)
	switch {
	case c.Trials != 0:
	case c.Quick:
		c.Trials = 2
	case c.Family != "":
		c.Trials = 40 // a ratio of two short times needs more measurements
	default:
		c.Trials = 5
	}
	if c.Quick {
		points, held = []size{{points[0].keys, points[0].rates[1:3]}}, 10_000
	}
	if c.Progress == nil {
		c.Progress = func(float64) {}
	}
	out := families.CostTable{
		Machine: machine(), Go: runtime.Version(), Date: time.Now().UTC().Format(time.DateOnly),
		Memory: map[string]float64{}, Kinds: map[string][]families.CostPoint{},
	}
	kinds := families.Forms()
	if c.Family == "" {
		out.Keyed = keyedCost()
	} else if kinds = ofFamily(kinds, c.Family); len(kinds) == 0 {
		return out, fmt.Errorf("%w %q: the planner chooses no filters of it", filter.ErrFamily, c.Family)
	}
	for _, kind := range kinds {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		bytes, err := heldByBuild(ctx, kind, held)
		if err != nil {
			return out, fmt.Errorf("%s, memory of a build: %w", kind, err)
		}
		out.Memory[kind.String()] = bytes
	}
	// The time of a point is roughly proportional to its keys and a constant number of queries.
	const queries = 100_000
	var total, done float64
	for _, p := range points {
		total += float64(p.rounds()*len(p.rates)) * float64(p.keys+queries) * float64(len(kinds))
	}
	for _, p := range points {
		for round := range p.rounds() {
			for _, fpr := range p.rates {
				for _, kind := range kinds {
					if err := ctx.Err(); err != nil {
						return out, err
					}
					done += float64(p.keys + queries)
					// no filter of this kind has the rate
					if row := plan.Forecast(kind.With("fpr", fpr), p.keys); row.Problem != "" {
						continue
					}
					builds := round == 0 && (p.keys <= 100_000 || c.Family != "" && p.keys <= 1_000_000 ||
						p.keys <= repeatedBuilds && !searches(kind))
					point, err := measure(ctx, kind, p.keys, fpr, c.Trials, builds)
					if err != nil {
						return out, fmt.Errorf("%s, %d keys at %g: %w", kind, p.keys, fpr, err)
					}
					out.Kinds[kind.String()] = withPoint(out.Kinds[kind.String()], point)
					c.Progress(done / total)
				}
			}
		}
	}
	if c.Family != "" {
		return inTable(families.Costs(), out, c.Family), nil
	}
	return out, nil
}

// repeatedBuilds is the largest number of keys for which the builds of families that do not search are repeated.
const repeatedBuilds = 12_000_000

// searches reports whether the build of a kind is a search.
func searches(kind filter.Spec) bool {
	f, err := families.ByName(kind.Family())
	return err == nil && f.Can.Has(family.CanSearch)
}

// ofFamily returns the kinds of a family, and Reference before them.
func ofFamily(kinds []filter.Spec, family string) []filter.Spec {
	kinds = slices.DeleteFunc(kinds, func(k filter.Spec) bool { return k.Family() != family })
	if len(kinds) > 0 && family != Reference.Family() {
		kinds = slices.Insert(kinds, 0, Reference)
	}
	return kinds
}

// inTable returns the table with the kinds of a family replaced by the measured ones. Their times are scaled to the
// machine of the table: multiplied by the time of Reference in table, and divided by its time in measured. The times of
// the family of Reference are not scaled.
func inTable(table, measured families.CostTable, family string) families.CostTable {
	out := table
	out.Memory, out.Kinds = maps.Clone(table.Memory), maps.Clone(table.Kinds)
	for kind, points := range measured.Kinds {
		if s, err := filter.ParseSpec(kind); err != nil || s.Family() != family {
			continue
		}
		points = slices.Clone(points)
		for i := range points {
			p := &points[i]
			now, _ := measured.At(Reference, p.Keys, p.FPR)
			if then, ok := table.At(Reference, p.Keys, p.FPR); ok && family != Reference.Family() {
				p.Present *= then.Present / now.Present
				p.Absent *= then.Absent / now.Absent
				p.Build *= then.Build / now.Build
			}
		}
		out.Kinds[kind], out.Memory[kind] = points, measured.Memory[kind]
	}
	return out
}

// withPoint returns the points of a kind with p added. If there is a point of the same size and rate, it gets the
// shorter times of both. If p.Build is 0 because the search was cut short, p gets the shortest build time of another
// size at its rate.
func withPoint(points []families.CostPoint, p families.CostPoint) []families.CostPoint {
	build := math.Inf(1)
	for i, e := range points {
		if e.FPR != p.FPR {
			continue
		}
		build = min(build, e.Build)
		if e.Keys == p.Keys {
			points[i].Present, points[i].Absent = min(e.Present, p.Present), min(e.Absent, p.Absent)
			if p.Build > 0 {
				points[i].Build = min(e.Build, p.Build)
			}
			return points
		}
	}
	if p.Build == 0 {
		p.Build = build
	}
	return append(points, p)
}

// keyedCost returns the additional time of SipHash over XXH3 for a key of 16 bytes, in nanoseconds.
func keyedCost() float64 {
	key := []byte("0123456789abcdef")
	shortest := func(h filter.Hasher) float64 {
		best, sum := math.Inf(1), uint64(0)
		for range 7 {
			start := time.Now()
			for i := range 100_000 {
				key[0] = byte(i)
				sum += h.Sum(key).Lo
			}
			best = min(best, float64(time.Since(start).Nanoseconds())/100_000)
		}
		runtime.KeepAlive(sum) // so that the loop is not optimized away
		return best
	}
	return max(0, shortest(filter.NewKeyedHasher(filter.Secret{1}))-shortest(filter.NewHasher(1)))
}

// Write writes a table as JSON, with one point per line.
func Write(w io.Writer, c families.CostTable) error {
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	// The fields of a point are indented by at least three spaces.
	points := strings.NewReplacer("{\n    ", "{", ",\n    ", ", ", "\n   }", "}")
	_, err = points.WriteString(w, string(text)+"\n")
	return err
}
