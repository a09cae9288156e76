package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/plan"
)

// planNeeds builds what the planner puts first for random needs, and measures whether it is as it was forecast.
var planNeeds = Experiment{
	Name: "plan-needs", Source: "docs/plan.md", Varies: "what a filter has to do", Run: runPlanNeeds, Seconds: 300,
}

// What the forecasts are held to.
const (
	sizeNear  = 0.01 // of the bits that were forecast
	queryNear = 1.5  // times the time that was forecast, or by as much less
	beaten    = 0.1  // another filter's advantage on the objective
)

// needed is what became of one random need.
type needed struct {
	n          plan.Needs
	first      plan.Choice
	impossible bool
	rateHolds  bool
	bits       float64 // measured over forecast
	query      float64 // measured over forecast
	others     float64 // the best of the others over the first, on the objective; 1 if there are none
	better     filter.Spec
}

func runPlanNeeds(ctx context.Context, c Config) (Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	result := c.begin(200)
	most := 300_000.
	if c.Quick {
		c.Trials, most = 6, 3000
	}
	r := rand.New(rand.NewPCG(c.Seed, 0x706c616e))
	var all []needed
	for i := range c.Trials {
		x, err := tryNeed(ctx, randomNeeds(r, most), r)
		if err != nil {
			return result, fmt.Errorf("need %d: %w", i, err)
		}
		all = append(all, x)
		c.Progress(float64(i+1) / float64(c.Trials))
	}
	result.Rows, result.Plots = needRows(all), needPlots(all)
	result.Notes = append(result.Notes,
		"Times are those of this machine at this moment against a table that was measured before; on another machine the whole table is off by a factor.",
		"The rate holds if as many false positives among 200,000 absent keys come about with a probability of 1 in 10,000 or more at the promised rate.")
	return result, ctx.Err()
}

// randomNeeds draws what somebody may want: sizes and rates evenly on logarithmic scales.
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

// tryNeed plans, builds and measures.
func tryNeed(ctx context.Context, n plan.Needs, r *rand.Rand) (needed, error) {
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
	seed := r.Uint64()
	first, err := measureChoice(ctx, n, p.Choices[0], seed)
	if err != nil {
		return out, err
	}
	out.rateHolds = first.holds
	out.bits = first.bits / float64(p.Choices[0].Bits)
	out.query = first.query / p.Choices[0].NsQuery
	for _, c := range p.Choices[1:] {
		m, err := measureChoice(ctx, n, c, seed)
		if err != nil {
			return out, err
		}
		if n.For == plan.Fastest && n.FPR == 0 && m.rate > 2*first.rate || n.FPR > 0 && !m.holds {
			continue // it does not do what is needed
		}
		var ratio float64
		switch {
		case n.For == plan.Fastest:
			ratio = m.query / first.query
		case n.FPR == 0:
			ratio = m.rate / max(first.rate, 1e-12)
		default:
			ratio = m.bits / first.bits
		}
		if ratio < out.others {
			out.others, out.better = ratio, c.Spec
		}
	}
	return out, nil
}

// measuredChoice is what a filter came to.
type measuredChoice struct {
	bits, rate, query float64
	holds             bool
}

func measureChoice(ctx context.Context, n plan.Needs, choice plan.Choice, seed uint64) (measuredChoice, error) {
	family, err := container.FamilyByName(choice.Spec.Family())
	if err != nil {
		return measuredChoice{}, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	keys := make([]uint64, n.Keys+n.Later)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	h := filter.NewHasher(seed)
	f, err := buildKeys(ctx, family, choice.Spec, keys[:n.Keys], h)
	if err != nil {
		return measuredChoice{}, fmt.Errorf("%s: %w", choice.Spec, err)
	}
	if n.Later > 0 {
		for _, k := range keys[n.Keys:] {
			if err := f.(filter.Adder).Add(h.SumUint64(k)); err != nil {
				return measuredChoice{}, fmt.Errorf("%s: %w", choice.Spec, err)
			}
		}
	}
	info := f.Info()
	m := measuredChoice{bits: float64(info.Bits), rate: info.FPRPosterior, query: math.Inf(1)}
	present, absent := make([]uint64, queriesTimed), make([]uint64, queriesTimed)
	for i := range present {
		present[i], absent[i] = keys[r.IntN(len(keys))], r.Uint64()
	}
	var seen int
	for range 5 {
		start := time.Now()
		if found := countKeys(f, present, h); found != len(present) {
			return m, fmt.Errorf("%s lost %d of %d keys", choice.Spec, len(present)-found, len(present))
		}
		nsPresent := float64(time.Since(start).Nanoseconds())
		start = time.Now()
		seen = countKeys(f, absent, h)
		nsAbsent := float64(time.Since(start).Nanoseconds())
		m.query = min(m.query, (n.Absent*nsAbsent+(1-n.Absent)*nsPresent)/queriesTimed)
	}
	promised := n.FPR
	if promised == 0 {
		promised = choice.FPRPrior
	}
	m.holds = stat.UpperTail(uint64(seen), queriesTimed, promised) >= 1e-4
	return m, nil
}

func needRows(all []needed) []Row {
	var bits, query, others []float64
	var impossible, rates, sizes, near, best float64
	var off []string
	for _, x := range all {
		if x.impossible {
			impossible++
			continue
		}
		bits, query, others = append(bits, x.bits), append(query, x.query), append(others, x.others)
		ok := map[string]bool{
			"rate": x.rateHolds, "size": math.Abs(x.bits-1) <= sizeNear, "time": x.query <= queryNear && x.query >= 1/queryNear, "beaten": x.others >= 1-beaten,
		}
		for what, count := range map[string]*float64{"rate": &rates, "size": &sizes, "time": &near, "beaten": &best} {
			if ok[what] {
				*count++
				continue
			}
			note := fmt.Sprintf("%s: %d keys, %d later, fpr %.3g, %.3g bits a key, for %s: %s, bits %.3f, time %.2f of the forecast", what, x.n.Keys, x.n.Later, x.n.FPR, x.n.BitsPerKey, x.n.For, x.first.Spec, x.bits, x.query)
			if what == "beaten" {
				note += fmt.Sprintf(", %s at %.2f", x.better, x.others)
			}
			off = append(off, note)
		}
	}
	possible := float64(len(bits))
	share := func(label string, count float64, note string, args ...any) Row {
		return exact(label, count/max(possible, 1)).against(1, 0).noted(note, args...)
	}
	rows := []Row{
		exact("needs that some filter meets", possible).noted("%.0f of %d are impossible together, such as values with union, and said to be", impossible, len(all)),
		share("share whose rate holds", rates, "of 200,000 absent keys"),
		share("share whose size is within 1% of the forecast", sizes, "the bits of all arrays"),
		share("share whose query takes 1/1.5 to 1.5 times the forecast", near, "the least of 5 measurements"),
		share("share that no other choice beats by more than 10%", best, "on the objective: bits, rate or time"),
	}
	if len(bits) > 0 {
		rows = append(rows, row("bits, measured over forecast", bits), row("time of a query, measured over forecast", query), row("best of the others over the first", others))
	}
	for i, note := range off {
		rows = append(rows, exact(fmt.Sprintf("off %d", i+1), 1).noted("%s", note))
	}
	return rows
}

func needPlots(all []needed) []Plot {
	points := map[plan.Objective]*Curve{plan.Smallest: {Name: "smallest", Dots: true}, plan.Fastest: {Name: "fastest", Dots: true}}
	for _, x := range all {
		if x.impossible {
			continue
		}
		objective := x.n.For
		if objective == "" {
			objective = plan.Smallest
		}
		points[objective].Points = append(points[objective].Points, [2]float64{x.first.NsQuery, x.query * x.first.NsQuery})
	}
	level := Curve{Name: "as forecast"}
	for _, v := range []float64{3, 10, 30, 100} {
		level.Points = append(level.Points, [2]float64{v, v})
	}
	return []Plot{{
		Name: "plan-needs", Title: "Time of a query of the filter that the plan puts first", X: "forecast, ns", Y: "measured, ns", LogX: true, LogY: true,
		Curves: []Curve{*points[plan.Smallest], *points[plan.Fastest], level},
	}}
}
