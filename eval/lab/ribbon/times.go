package ribbon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/bloomery/bloomery/eval/lab/clock"
	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/fuse"
	"github.com/bloomery/bloomery/internal/family/ribbon"
	"github.com/bloomery/bloomery/internal/stat"
)

// times compares the times of builds and queries with the times of family fuse at about the same rate.
var times = experiment.Experiment{
	Name: "ribbon-time", Source: source, Varies: "number of keys; build, queries, batches", Run: runTimes, Seconds: 45,
}

// rivals are the compared filters. The others are compared with the first one.
var rivals = []filter.Spec{
	family.NewSpec("fuse", "width", 8), family.NewSpec("ribbon", "r", 8), family.NewSpec("ribbon", "r", 8, "w", 128),
}

const (
	asked = 1 << 18 // queries of a measurement
	chunk = 1 << 13 // queries that are timed at once
)

// operation is a timed operation, in nanoseconds per key, with the limits of the ratio of ribbon with w=64 to fuse.
type operation struct {
	name   string
	limits map[int]float64
}

var operations = []operation{
	{"build on one core", map[int]float64{10_000: 3.2, 100_000: 3.2, 1_000_000: 2, 10_000_000: 2, 20_000_000: 2}},
	{"present", map[int]float64{10_000: 3, 100_000: 3, 1_000_000: 3, 20_000_000: 2.3}},
	{"absent", map[int]float64{10_000: 2.5, 100_000: 2.5, 1_000_000: 2.5, 20_000_000: 1.6}},
	{"present, batch", map[int]float64{20_000_000: 1.4}},
	{"absent, batch", map[int]float64{20_000_000: 1.4}},
}

func runTimes(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(11)
	keys := []int{10_000, 100_000, 1_000_000}
	if c.Full {
		keys = append(keys, 10_000_000, 20_000_000)
	}
	if c.Quick {
		keys = keys[:1]
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all := 0.
	for _, n := range keys {
		all += float64(n + asked)
	}
	work := c.Work(all * float64(c.Trials))
	var curves []figure.Curve
	for _, op := range operations {
		curves = append(curves, figure.Curve{Name: op.name})
	}
	for _, n := range keys {
		took, cores, err := timesOf(ctx, c, work, n)
		if err != nil {
			return result, err
		}
		for i, op := range operations {
			for j, spec := range rivals {
				label := fmt.Sprintf("%d keys, %s: %s", n, op.name, spec)
				if j == 0 {
					result.Add(median(label+", ns per key", took[i][0]))
					continue
				}
				row := median(label+", over fuse", ratios(took[i][j], took[i][0]))
				row = row.Noted("median of %.1f ns per key", median("", took[i][j]).Measured)
				if limit, ok := op.limits[n]; ok && j == 1 {
					row = experiment.AtMost(row, limit)
				}
				if j == 1 {
					curves[i].Add(float64(n), row)
				}
				result.Add(row)
			}
		}
		result.Add(cores...)
	}
	result.Plots = []figure.Plot{{
		Name: "ribbon-time", Title: "Time of ribbon with r=8 and w=64 over the time of fuse with 8 bits", X: "keys",
		Y: "ratio", LogX: true, Curves: append(curves, figure.Level("as fuse", 1, 1)),
	}}
	result.Notes = append(result.Notes,
		"Medians of the rounds with their 95% intervals; a ratio is of two times of one round. Keys are hashes. "+
			clock.Name+"; builds on all cores: wall time.")
	return result, nil
}

// timesOf returns the times of all operations, rivals and rounds, in nanoseconds per key, and rows about builds on all
// cores.
func timesOf(
	ctx context.Context, c experiment.Config, work *experiment.Work, n int,
) (took [][][]float64, cores []figure.Row, err error) {
	took = make([][][]float64, len(operations))
	for i := range took {
		took[i] = make([][]float64, len(rivals))
	}
	var one, many []float64 // wall time of builds of ribbon
	for round := range c.Trials {
		hs := c.Hashes(n, round)
		r := rand.New(rand.NewPCG(c.Seed, uint64(round)))
		present, absent := make([]filter.Hash, asked), c.Hashes(asked, 1_000_000+round)
		for i := range present {
			present[i] = hs[r.IntN(n)]
		}
		for j, spec := range rivals {
			f, cpu, wall, err := timeBuild(ctx, spec, hs, 1)
			if err != nil {
				return nil, nil, err
			}
			add := func(i int, ns float64) { took[i][j] = append(took[i][j], ns) }
			add(0, cpu)
			if j == 1 {
				_, _, all, err := timeBuild(ctx, spec, hs, runtime.NumCPU())
				if err != nil {
					return nil, nil, err
				}
				one, many = append(one, wall), append(many, all)
			}
			add(1, timeQueries(f, present, false))
			add(2, timeQueries(f, absent, false))
			add(3, timeQueries(f, present, true))
			add(4, timeQueries(f, absent, true))
		}
		work.Step(float64(n + asked))
	}
	label := fmt.Sprintf("%d keys, build on %d cores: %s", n, runtime.NumCPU(), rivals[1])
	return took, []figure.Row{
		median(label+", ns per key", many), median(label+", times as fast as on one", ratios(one, many)),
	}, nil
}

// timeBuild builds a filter on the given number of cores and returns the CPU time and the wall time, in nanoseconds per
// key.
func timeBuild(
	ctx context.Context, spec filter.Spec, hs []filter.Hash, cores int,
) (f family.Filter, cpu, wall float64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	// Small filters are built several times, because the clock also counts the work of the runtime.
	times := max(1, 100_000/len(hs))
	runtime.GC()
	start, begin := time.Now(), clock.ProcessTime()
	for range times {
		if f, err = build(ctx, spec, hs); err != nil {
			return nil, 0, 0, err
		}
	}
	of := float64(times * len(hs))
	return f, float64((clock.ProcessTime() - begin).Nanoseconds()) / of, float64(time.Since(start).Nanoseconds()) / of, nil
}

// timeQueries returns the time of a query in nanoseconds: the median of the chunks, so that a short disturbance of the
// machine has no effect. An eighth of the queries runs before the measurement, to fill the caches.
func timeQueries(f family.Filter, hs []filter.Hash, batch bool) float64 {
	dst := make([]bool, 256)
	var chunks []float64
	ask(f, hs[:len(hs)/8], dst, batch)
	for some := range slices.Chunk(hs, chunk) {
		start := clock.ThreadTime()
		ask(f, some, dst, batch)
		chunks = append(chunks, float64((clock.ThreadTime()-start).Nanoseconds())/chunk)
	}
	return median("", chunks).Measured
}

// ask queries keys, in batches of the length of dst or one by one. It calls the methods of the concrete type, not of an
// interface.
func ask(f family.Filter, hs []filter.Hash, dst []bool, batch bool) (n int) {
	if batch {
		for ; len(hs) > 0; hs = hs[len(dst):] {
			f.(family.Batcher).HasMany(dst, hs[:len(dst)])
		}
		return 0
	}
	switch f := f.(type) {
	case *fuse.Filter:
		for _, h := range hs {
			if f.Has(h) {
				n++
			}
		}
	case *ribbon.Filter:
		for _, h := range hs {
			if f.Has(h) {
				n++
			}
		}
	}
	return n
}

// ratios returns a[i]/b[i].
func ratios(a, b []float64) (out []float64) {
	for i := range a {
		out = append(out, a[i]/b[i])
	}
	return out
}

// median returns the row of the median of values, at least one, with its interval of at least 95%: the k-th smallest
// and the k-th largest value, k being the largest number for which fewer than k of the values lie on one side of the
// true median with a probability of at most 2.5%. With fewer than six values the interval holds all of them.
func median(label string, values []float64) figure.Row {
	v := slices.Sorted(slices.Values(values))
	n, k := len(v), 1
	for k < n/2 && stat.UpperTail(uint64(n-k), uint64(n), 0.5) <= 0.025 {
		k++
	}
	return figure.Row{Label: label, Measured: (v[n/2] + v[(n-1)/2]) / 2, Low: v[k-1], High: v[n-k]}
}
