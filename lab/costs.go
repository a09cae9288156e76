package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// costPoints are where costs are measured: numbers of keys, each with rates. The last is larger than the caches of most machines.
var costPoints = []costRow{
	{1000, smallRates}, {10_000, smallRates}, {100_000, smallRates}, {1_000_000, smallRates},
	{4_000_000, largeRates}, {12_000_000, largeRates}, {50_000_000, []float64{0.01, 0.0001}},
}

// costRow is a number of keys, with the rates of its points.
type costRow struct {
	keys  uint64
	rates []float64
}

// rounds is how often the points are measured, minutes apart where that is soon done: whatever slows a machine lasts longer than
// the measurements of one point.
func (r costRow) rounds() int {
	switch {
	case r.keys <= 100_000:
		return 3
	case r.keys <= 1_000_000:
		return 2
	}
	return 1
}

// withPoint returns the points of a kind with another, or with the lesser times where there is one of this size and rate. The
// build of a search that was cut short takes as long as that of fewer keys.
func withPoint(points []plan.Point, p plan.Point) []plan.Point {
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

// Times change at every step of the number of probes, which small filters show most.
var (
	smallRates = []float64{0.05, 0.01, 0.003, 0.001, 0.0003, 0.0001, 0.00001, 0.000001}
	largeRates = []float64{0.01, 0.0001, 0.000001}
)

// searchedKeys is the most keys for which families that search do so at their default effort; their queries take as long
// after a short search.
const searchedKeys = 1_000_000

// Costs measures the table of package plan: for every kind the least of several times, since what disturbs a measurement only
// adds to it. It takes some twenty minutes. Quick measures the smallest filters only.
func Costs(ctx context.Context, c Config) (plan.Costs, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the costs of a build are those of one core
	_ = c.begin(5)
	points := slices.Clone(costPoints)
	if c.Quick {
		points = points[:1:1]
		points[0].rates = points[0].rates[1:3]
	}
	out := plan.Costs{Machine: machine(), Go: runtime.Version(), Date: time.Now().UTC().Format(time.DateOnly), Keyed: keyedCost(), Memory: map[string]float64{}, Kinds: map[string][]plan.Point{}}
	held := uint64(heldKeys)
	if c.Quick {
		held = 10_000
	}
	for _, kind := range plan.Kinds() {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		bytes, err := heldByBuild(ctx, kind, held)
		if err != nil {
			return out, fmt.Errorf("%s, memory of a build: %w", kind, err)
		}
		out.Memory[kind.String()] = bytes
	}
	var total, done float64
	for _, p := range points {
		total += float64(p.rounds()*len(p.rates)) * float64(p.keys+100_000) * float64(len(plan.Kinds()))
	}
	for _, p := range points {
		for round := range p.rounds() {
			for _, fpr := range p.rates {
				for _, kind := range plan.Kinds() {
					if err := ctx.Err(); err != nil {
						return out, err
					}
					done += float64(p.keys + 100_000)
					if row := plan.Forecast(kind.With("fpr", fpr), p.keys); row.Problem != "" { // no filter of this kind has the rate
						continue
					}
					point, err := cost(ctx, kind, p.keys, fpr, c.Trials, round == 0 && p.keys <= 100_000)
					if err != nil {
						return out, fmt.Errorf("%s, %d keys at %g: %w", kind, p.keys, fpr, err)
					}
					out.Kinds[kind.String()] = withPoint(out.Kinds[kind.String()], point)
					c.Progress(done / total)
				}
			}
		}
	}
	return out, nil
}

// cost measures one point; with builds the time of a build is the least of three.
func cost(ctx context.Context, kind filter.Spec, keys uint64, fpr float64, repeats int, builds bool) (plan.Point, error) {
	family, err := families.ByName(kind.Family())
	if err != nil {
		return plan.Point{}, err
	}
	spec := kind.With("fpr", fpr)
	cut := family.Can.Has(filter.CanSearch) && keys > searchedKeys
	if cut { // the size that the default search would have needed, and a pass
		bits, _, err := family.Forecast(spec, keys)
		if err != nil {
			return plan.Point{}, err
		}
		spec = kind.With("bytes", bits/8).With("passes", 1)
	}
	h := filter.NewHasher(7)
	r := rand.New(rand.NewPCG(1, keys))
	p := plan.Point{Keys: keys, FPR: fpr, Present: math.Inf(1), Absent: math.Inf(1), Build: math.Inf(1)}
	present := make([]uint64, keys)
	for i := range present {
		present[i] = r.Uint64()
	}
	var f filter.Filter
	times := 1
	if builds {
		times = 3
	}
	for range times {
		start := time.Now()
		if f, err = buildKeys(ctx, family, spec, present, h); err != nil {
			return p, err
		}
		p.Build = min(p.Build, float64(time.Since(start).Nanoseconds())/float64(keys))
	}
	if cut {
		p.Build = 0
	}
	// Queries in a random order, others each time: the same again would find their part of a large filter in the caches.
	asked, absent := make([][]uint64, repeats), make([][]uint64, repeats)
	for i := range repeats {
		asked[i], absent[i] = make([]uint64, queriesTimed), make([]uint64, queriesTimed)
		for j := range queriesTimed {
			asked[i][j], absent[i][j] = present[r.Uint64N(keys)], r.Uint64()
		}
	}
	for i := range repeats {
		start := time.Now()
		if n := countKeys(f, asked[i], h); n != queriesTimed {
			return p, fmt.Errorf("%d of %d present keys were found", n, queriesTimed)
		}
		p.Present = min(p.Present, float64(time.Since(start).Nanoseconds())/queriesTimed)
		start = time.Now()
		countKeys(f, absent[i], h)
		p.Absent = min(p.Absent, float64(time.Since(start).Nanoseconds())/queriesTimed)
	}
	return p, nil
}

// heldKeys is the number of keys for which the memory of builds is measured.
const heldKeys = 1_000_000

// heldByBuild returns how many bytes a key a build holds beside the filter at its peak, on one core: what the heap has more than
// before, looked at every few hundred microseconds while little garbage may stay. Searches are short: their memory is not.
func heldByBuild(ctx context.Context, kind filter.Spec, keys uint64) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // who looks has a core
	family, err := families.ByName(kind.Family())
	if err != nil {
		return 0, err
	}
	spec := kind.With("bits_per_key", 12)
	if family.Can.Has(filter.CanSearch) {
		spec = spec.With("passes", 1)
	}
	if kind.Family() == "counting" || kind.Has("value_bits") || kind.Has("counting") {
		spec = kind.With("fpr", 0.01)
	}
	present := make([]uint64, keys)
	r := rand.New(rand.NewPCG(1, keys))
	for i := range present {
		present[i] = r.Uint64()
	}
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(2))
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	heap := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	before, done, most := heap(), make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		for {
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(300 * time.Microsecond):
				peak = max(peak, heap())
			}
		}
	}()
	f, err := buildKeys(ctx, family, spec, present, filter.NewHasher(7))
	close(done)
	peak := max(<-most, heap())
	if err != nil {
		return 0, err
	}
	held := float64(peak) - float64(before) - float64(f.Info().Bits)/8
	runtime.KeepAlive(present)
	return max(0, held) / float64(keys), nil
}

// queriesTimed is the number of queries of a measurement: some milliseconds.
const queriesTimed = 200_000

// buildKeys builds a filter of integer keys, hashing them within.
func buildKeys(ctx context.Context, family families.Family, spec filter.Spec, keys []uint64, h filter.Hasher) (filter.Filter, error) {
	b, err := family.NewBuilder(spec, uint64(len(keys)))
	if err != nil {
		return nil, err
	}
	hs := make([]filter.Hash, 4096)
	for len(keys) > 0 {
		part := hs[:min(len(hs), len(keys))]
		for i := range part {
			part[i] = h.SumUint64(keys[i])
		}
		if err := b.AddMany(part); err != nil {
			return nil, err
		}
		keys = keys[len(part):]
	}
	return b.Build(ctx)
}

// countKeys returns how many integer keys a filter has.
func countKeys(f filter.Filter, keys []uint64, h filter.Hasher) (n int) {
	for _, k := range keys {
		if f.Has(h.SumUint64(k)) {
			n++
		}
	}
	return n
}

// keyedCost returns how many nanoseconds more SipHash takes than XXH3 for a key of 16 bytes.
func keyedCost() float64 {
	key := []byte("0123456789abcdef")
	least := func(h filter.Hasher) float64 {
		best, sum := math.Inf(1), uint64(0)
		for range 7 {
			start := time.Now()
			for i := range 100_000 {
				key[0] = byte(i)
				sum += h.Sum(key).Lo
			}
			best = min(best, float64(time.Since(start).Nanoseconds())/100_000)
		}
		runtime.KeepAlive(sum) // what is only timed is not left out
		return best
	}
	return max(0, least(filter.NewKeyedHasher([filter.SecretSize]byte{1}))-least(filter.NewHasher(1)))
}

// machine describes the processor.
func machine() string {
	name := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				name = strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %s, %d cores", name, runtime.GOOS, runtime.NumCPU())
}
