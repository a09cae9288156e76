// Package needs measures how accurate the forecasts of the planner are: it plans for random needs, builds the filters
// and measures them.
package needs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/measure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/plan"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment { return []experiment.Experiment{sizes, planNeeds} }

// planNeeds builds the choices of the planner for random needs and compares the first one with its forecast and with
// the others.
var planNeeds = experiment.Experiment{
	Name: "plan-needs", Source: "docs/families/README.md", Varies: "what a filter has to do", Run: runPlanNeeds,
	Seconds: 300,
}

// Tolerances of the forecasts.
const (
	sizeNear  = 0.01 // relative error of the bits
	queryNear = 1.5  // factor of the time of a query, in either direction
	beaten    = 0.1  // relative advantage of another choice on the objective
)

// needed is the result of one random need.
type needed struct {
	n          plan.Needs
	first      plan.Choice
	impossible bool
	rateHolds  bool
	bits       float64 // measured over forecast
	query      float64 // measured over forecast, scaled to the speed of the machine of the forecast
	raw        float64 // the same, not scaled
	others     float64 // best of the other choices over the first, on the objective; 1 if none is better
	better     filter.Spec
}

func runPlanNeeds(ctx context.Context, c experiment.Config) (figure.Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	result := c.Begin(200)
	most := 300_000.
	if c.Quick {
		c.Trials, most = 6, 3000
	}
	r := rand.New(rand.NewPCG(c.Seed, 0x706c616e))
	speed, err := newSpeed(ctx)
	if err != nil {
		return result, err
	}
	var all []needed
	for i := range c.Trials {
		x, err := tryNeed(ctx, randomNeeds(r, most), r, speed)
		if err != nil {
			return result, fmt.Errorf("need %d: %w", i, err)
		}
		all = append(all, x)
		c.Progress(float64(i+1) / float64(c.Trials))
	}
	result.Rows, result.Plots = needRows(all), needPlots(all)
	result.Notes = append(result.Notes,
		"Times are compared with a table that was measured earlier, perhaps on another machine. They are divided by "+
			"the present time of a small filter of the table over its time in the table.",
		"The rate holds if a filter with the promised rate shows at least as many false positives among 200,000 "+
			"absent keys with a probability of 1 in 10,000 or more.")
	return result, ctx.Err()
}

// randomNeeds draws needs: sizes and rates are uniform on logarithmic scales.
func randomNeeds(r *rand.Rand, most float64) plan.Needs {
	n := plan.Needs{Keys: uint64(1000 * math.Pow(most/1000, r.Float64())), Absent: 0.05 + 0.95*r.Float64()}
	if r.IntN(4) > 0 {
		n.FPR = 0.05 * math.Pow(0.002, r.Float64())
	} else {
		n.BitsPerKey = 6 + 24*r.Float64()
	}
	some := func(of int) bool { return r.IntN(of) == 0 }
	if some(3) {
		n.Later = n.Keys / uint64(2+r.IntN(9))
	}
	n.Remove, n.Count, n.Merge, n.OneLine, n.Writers = some(3), some(8), some(8), some(5), some(8)
	if some(2) {
		n.For = plan.Fastest
	}
	return n
}

// tryNeed plans a need, builds all choices and measures them.
func tryNeed(ctx context.Context, n plan.Needs, r *rand.Rand, now *speed) (needed, error) {
	out := needed{n: n, others: 1}
	p, err := plan.For(ctx, n)
	if _, impossible := err.(*plan.Impossible); impossible {
		out.impossible = true
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.first = p.Choices[0]
	built := make([]*builtChoice, len(p.Choices))
	seed := r.Uint64()
	for i, c := range p.Choices {
		if built[i], err = buildChoice(ctx, n, c, seed); err != nil {
			return out, err
		}
	}
	for range 5 { // the choices take turns, since a disturbance of the machine lasts longer than one measurement
		for _, b := range built {
			if err := b.ask(n, now); err != nil {
				return out, err
			}
		}
	}
	first := built[0]
	out.rateHolds = first.holds(n)
	out.bits = first.bits / float64(out.first.Bits)
	out.query, out.raw = first.query()/out.first.NsQuery, slices.Min(first.raw)/out.first.NsQuery
	best := 1.
	for _, b := range built {
		best = min(best, b.rate)
	}
	for _, b := range built[1:] {
		if n.For == plan.Fastest && n.FPR == 0 && b.rate > min(2*best, math.Sqrt(best)) || n.FPR > 0 && !b.holds(n) {
			continue // the choice does not meet the need
		}
		var ratio float64
		switch {
		case n.For == plan.Fastest:
			ratio = b.query() / first.query()
		case n.FPR == 0:
			ratio = b.rate / max(first.rate, 1e-12)
		default:
			ratio = b.bits / first.bits
		}
		if ratio < out.others {
			out.others, out.better = ratio, b.choice.Spec
		}
	}
	return out, nil
}

// builtChoice is the filter of a choice, with its queries and measurements.
type builtChoice struct {
	choice          plan.Choice
	f               family.Filter
	h               filter.Hasher
	present, absent []uint64
	bits, rate      float64
	raw, scaled     []float64 // nanoseconds per query of each turn; scaled: at the speed of the machine of the forecast
	seen            int       // false positives among the absent keys
}

// query returns the median scaled time of the turns.
func (b *builtChoice) query() float64 {
	slices.Sort(b.scaled)
	return b.scaled[len(b.scaled)/2]
}

// speed compares the present speed of the machine with the machine of the table of costs, by the time of queries for
// absent keys in a small standard filter.
type speed struct {
	f      family.Filter
	h      filter.Hasher
	absent []uint64
	table  float64 // nanoseconds per query in the table of costs
}

func newSpeed(ctx context.Context) (*speed, error) {
	const keys, rate = 10_000, 0.01
	spec := family.NewSpec("standard")
	point, ok := families.Costs().At(spec, keys, rate)
	kind, err := families.ByName(spec.Family())
	if err != nil || !ok {
		return nil, fmt.Errorf("no reference for speed: %w", err)
	}
	r := rand.New(rand.NewPCG(2, keys))
	present := measure.Random(r, keys)
	s := &speed{h: filter.NewHasher(1), table: point.Absent, absent: measure.Random(r, 50_000)}
	s.f, err = measure.Build(ctx, kind, spec.With("fpr", rate), present, s.h)
	return s, err
}

// slower returns the present time of a query divided by the time in the table.
func (s *speed) slower() float64 {
	start := time.Now()
	measure.Count(s.f, s.absent, s.h)
	return float64(time.Since(start).Nanoseconds()) / float64(len(s.absent)) / s.table
}

// buildChoice builds the filter of a choice and adds the later keys. The seed determines the keys.
func buildChoice(ctx context.Context, n plan.Needs, choice plan.Choice, seed uint64) (*builtChoice, error) {
	kind, err := families.ByName(choice.Spec.Family())
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	keys := measure.Random(r, n.Keys+n.Later)
	b := &builtChoice{choice: choice, h: filter.NewHasher(seed)}
	if b.f, err = measure.Build(ctx, kind, choice.Spec, keys[:n.Keys], b.h); err != nil {
		return nil, fmt.Errorf("%s: %w", choice.Spec, err)
	}
	for _, k := range keys[n.Keys:] {
		if err := b.f.(family.Adder).Add(b.h.SumUint64(k)); err != nil {
			return nil, fmt.Errorf("%s: %w", choice.Spec, err)
		}
	}
	info := b.f.Info()
	b.bits, b.rate = float64(info.Bits), info.FPRPosterior
	b.present, b.absent = measure.Questions(r, keys)
	return b, nil
}

// ask measures all queries once.
func (b *builtChoice) ask(n plan.Needs, now *speed) error {
	before := now.slower()
	start := time.Now()
	if found := measure.Count(b.f, b.present, b.h); found != len(b.present) {
		return fmt.Errorf("%s lost %d of %d keys", b.choice.Spec, len(b.present)-found, len(b.present))
	}
	present := float64(time.Since(start).Nanoseconds())
	start = time.Now()
	b.seen = measure.Count(b.f, b.absent, b.h)
	absent := float64(time.Since(start).Nanoseconds())
	query := (n.Absent*absent + (1-n.Absent)*present) / measure.Queries
	b.raw = append(b.raw, query)
	b.scaled = append(b.scaled, query/((before+now.slower())/2))
	return nil
}

// holds reports whether the observed false positives are consistent with the promised rate.
func (b *builtChoice) holds(n plan.Needs) bool {
	promised := n.FPR
	if promised == 0 {
		promised = b.choice.FPRPrior
	}
	return stat.UpperTail(uint64(b.seen), measure.Queries, promised) >= 1e-4
}

func needRows(all []needed) []figure.Row {
	possible := slices.DeleteFunc(slices.Clone(all), func(x needed) bool { return x.impossible })
	near := func(ratio float64) bool { return ratio <= queryNear && ratio >= 1/queryNear }
	nearRaw := 0.
	counts := map[string]float64{}
	var off []string
	for _, x := range possible {
		if near(x.raw) {
			nearRaw++
		}
		for _, check := range []struct {
			what string
			ok   bool
		}{
			{"rate", x.rateHolds}, {"size", math.Abs(x.bits-1) <= sizeNear}, {"time", near(x.query)},
			{"beaten", x.others >= 1-beaten},
		} {
			if check.ok {
				counts[check.what]++
				continue
			}
			note := fmt.Sprintf(
				"%s: %d keys, %d later, fpr %.3g, %.3g bits per key, for %s: %s, bits %.3f, time %.2f of the forecast",
				check.what, x.n.Keys, x.n.Later, x.n.FPR, x.n.BitsPerKey, x.n.For, x.first.Spec, x.bits, x.query,
			)
			if check.what == "beaten" {
				note += fmt.Sprintf(", %s at %.2f", x.better, x.others)
			}
			off = append(off, note)
		}
	}
	share := func(label string, count float64) figure.Row {
		of := uint64(max(len(possible), 1))
		r := figure.Exact(label, count/float64(of))
		r.Low, r.High = experiment.Tally{Hits: uint64(count), Of: of}.Interval()
		return r
	}
	rows := []figure.Row{
		figure.Exact("needs that some filter meets", float64(len(possible))).
			Noted("%d of %d are impossible combinations, such as values with union, and reported as such",
				len(all)-len(possible), len(all)),
		share("share whose rate holds", counts["rate"]).Against(1, 0).Noted("of 200,000 absent keys"),
		share("share whose size is within 1% of the forecast", counts["size"]).Against(1, 0).
			Noted("the bits of all arrays"),
		share("share whose query takes 1/1.5 to 1.5 times the forecast", counts["time"]).Against(1, 0).
			Noted("the median of 5 turns, at the speed of the machine of the forecasts: a small standard filter is " +
				"measured before and after each"),
		share("the same as the clock says", nearRaw).
			Noted("the least of the 5 turns: a shared machine has several speeds"),
		share("share that no other choice beats by more than 10%", counts["beaten"]).Against(1, 0).
			Noted("on the objective: bits, rate or time"),
	}
	if len(possible) > 0 {
		ratio := func(label string, of func(x needed) float64) {
			r := figure.Mean(label, experiment.Values(possible, of))
			r.Low = max(r.Low, 0)
			rows = append(rows, r)
		}
		ratio("bits, measured over forecast", func(x needed) float64 { return x.bits })
		ratio("time of a query, measured over forecast", func(x needed) float64 { return x.query })
		ratio("the same as the clock says", func(x needed) float64 { return x.raw })
		ratio("best of the others over the first", func(x needed) float64 { return x.others })
	}
	for i, note := range off {
		rows = append(rows, figure.Exact(fmt.Sprintf("off %d", i+1), 1).Noted("%s", note))
	}
	return rows
}

func needPlots(all []needed) []figure.Plot {
	smallest, fastest := figure.Curve{Name: "smallest", Dots: true}, figure.Curve{Name: "fastest", Dots: true}
	for _, x := range all {
		if x.impossible {
			continue
		}
		curve := &smallest
		if x.n.For == plan.Fastest {
			curve = &fastest
		}
		curve.AddPoint(x.first.NsQuery, x.query*x.first.NsQuery)
	}
	level := figure.Curve{Name: "as forecast"}
	for _, v := range []float64{3, 10, 30, 100} {
		level.AddPoint(v, v)
	}
	return []figure.Plot{{
		Name: "plan-needs", Title: "Time of a query of the filter that the plan puts first", X: "forecast, ns",
		Y: "measured, ns", LogX: true, LogY: true,
		Curves: []figure.Curve{smallest, fastest, level},
	}}
}
