package ph

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/probe"
)

// optimum measures how far searches are from the fewest bits that any choice sets: exactly for a few keys, by a bound
// for many. The bits that store the choices do not count for a few keys.
var optimum = experiment.Experiment{
	Name: "ph-optimum", Source: Paper + ", section 7 (question 2)",
	Varies: "functions to choose from", Run: runOptimum, Seconds: 30,
}

// A tiny filter: its bits fit a word, and its load is kn/m = 0.75, as at 8 bits per key and k = 6.
const tinyKeys, tinyBits, tinyGroups, tinyK = 12, 48, 3, 3

// options holds, for each choice that is to be made, the bits that each of its options sets.
type options [][]uint64

// fewestOnes solves the integer program of section 4: it returns the fewest bits that one option of each choice sets.
// most is the number of bits of some solution. It tries all solutions, except those that it knows to set most bits or
// more.
func (o options) fewestOnes(most int) int { return o.fewestWith(0, most) }

// fewestWith is fewestOnes for bits of which some are set.
func (o options) fewestWith(set uint64, most int) int {
	ones := bits.OnesCount64(set)
	if len(o) == 0 {
		return min(most, ones)
	}
	// The choice whose best option sets the most new bits is made first.
	hardest, dearest := 0, -1
	for i, all := range o {
		least := tinyBits
		for _, own := range all {
			least = min(least, bits.OnesCount64(own&^set))
		}
		if ones+least >= most {
			return most
		}
		if least > dearest {
			hardest, dearest = i, least
		}
	}

	var next []uint64
	for _, own := range o[hardest] {
		if both := set | own; bits.OnesCount64(both) < most {
			next = append(next, both)
		}
	}
	slices.SortFunc(next, func(a, b uint64) int {
		return cmp.Or(bits.OnesCount64(a)-bits.OnesCount64(b), cmp.Compare(a, b))
	})
	rest := slices.Delete(slices.Clone(o), hardest, hardest+1)
	for _, both := range slices.Compact(next) {
		most = rest.fewestWith(both, most)
	}
	return most
}

// subsets returns the bits that each k of the functions set together.
func subsets(functions []uint64, k int) (all []uint64) {
	if k == 0 {
		return []uint64{0}
	}
	for j := range functions {
		for _, others := range subsets(functions[j+1:], k-1) {
			all = append(all, functions[j]|others)
		}
	}
	return all
}

// relaxation returns the optimum of the linear program of section 4: the integer program with X_ij in [0, 1]. functions
// holds, for each group, the bits that each of its functions sets. It solves the dual, which needs no first phase,
// because 0 is a solution:
//
//	max Σ_i k·u_i - Σ_ij v_ij,  u_i - v_ij - Σ_{l∈(i,j)} y_ijl <= 0,  Σ_ij y_ijl <= 1,  u, v, y >= 0
//
// The right sides 0 are replaced by different small numbers, because the simplex method may never end if several bounds
// meet in a point. The result is too large by at most 2e-6 for each chosen function.
func relaxation(functions options, k int) (float64, error) {
	groups, pool := len(functions), len(functions[0])
	pairs, incidences := groups*pool, 0
	for _, f := range functions {
		for _, own := range f {
			incidences += bits.OnesCount64(own)
		}
	}
	rows := pairs + tinyBits // a pair (i, j) or a bit; each has a slack variable, after u, v and y
	v, y := groups, groups+pairs
	slack := y + incidences
	a := mat.NewDense(rows, slack+rows, nil)
	cost, right, basic := make([]float64, slack+rows), make([]float64, rows), make([]int, rows)
	for r := range rows {
		basic[r] = slack + r
		a.Set(r, basic[r], 1)
		if right[r] = 1; r < pairs {
			_, part := math.Modf(float64(r) * math.Phi)
			right[r] = 1e-6 * (1 + part)
		}
	}
	for i, f := range functions {
		cost[i] = -float64(k)
		for j, own := range f {
			pair := i*pool + j
			cost[v+pair] = 1
			a.Set(pair, i, 1)
			a.Set(pair, v+pair, -1)
			for ; own != 0; own &= own - 1 {
				a.Set(pair, y, -1)
				a.Set(pairs+bits.TrailingZeros64(own), y, 1)
				y++
			}
		}
	}
	low, _, err := lp.Simplex(cost, a, right, 1e-9, basic)
	return -low, err
}

// tiny holds the numbers of ones of one set of keys with choices of two kinds: k of H functions, as in the paper, and a
// shift below H of each of k slots, as in internal/family/partitioned.
type tiny struct{ greedy, best, relaxed, plain, search, bestShifts float64 }

// solveTiny searches the choices of both kinds among h functions or shifts.
func solveTiny(ctx context.Context, c experiment.Config, h, trial int) (t tiny, err error) {
	hs := c.Hashes(tinyKeys, trial)
	p := published{n: tinyKeys, m: tinyBits, g: tinyGroups, h: h, k: tinyK}
	_, bit := paper.RandomFunctions(hs, p.g, tinyBits)
	group := func(key int) int { return key % tinyGroups } // groups of equal size
	found, err := paper.Greedy{
		Keys: p.n, Groups: p.g, Functions: h, K: p.k, Bits: tinyBits, Group: group, Bit: bit,
	}.Search(ctx, mostPasses)
	if err != nil {
		return t, err
	}
	t.greedy = math.Round(found.Fills[len(found.Fills)-1] * tinyBits)

	functions, choices := make(options, p.g), make(options, p.g)
	for i := range functions {
		functions[i] = make([]uint64, h)
		for j := range h {
			for key := i; key < p.n; key += p.g {
				functions[i][j] |= 1 << bit(key, j)
			}
		}
		choices[i] = subsets(functions[i], p.k)
	}
	t.best = float64(choices.fewestOnes(int(t.greedy)))
	if t.relaxed, err = relaxation(functions, p.k); err != nil {
		return t, fmt.Errorf("the relaxation of trial %d at H = %d: %w", trial, h, err)
	}

	var s anneal.State
	choices = tinyShifts(&s, h, rand.New(rand.NewPCG(c.Seed, uint64(trial))))
	rnd := anneal.Random(trial)
	s.First(&rnd)
	for range mostPasses {
		s.Pass(0, &rnd)
	}
	t.plain = float64(s.Ones())
	tinyShifts(&s, h, rand.New(rand.NewPCG(c.Seed, uint64(trial))))
	anneal.NewPart(mostPasses).Run(&s, &rnd, false)
	t.search = float64(s.Ones())
	t.bestShifts = float64(choices.fewestOnes(int(min(t.plain, t.search))))
	return t, nil
}

// tinyShifts makes s a state of random base positions and returns the bits that each shift of each slot sets.
func tinyShifts(s *anneal.State, h int, r *rand.Rand) (all options) {
	const size = tinyKeys / tinyGroups
	width := bits.Len(uint(h)) - 1
	s.Reset(anneal.Geometry{Bits: tinyBits, K: tinyK, Width: width}, slices.Repeat([]uint32{size}, tinyGroups))
	for i := range tinyGroups {
		pos := s.Positions(i)
		for l := range tinyK {
			own := uint64(0)
			for key := range size {
				pos[l*size+key] = uint32(r.IntN(tinyBits - h + 1))
				own |= 1 << pos[l*size+key]
			}
			slot := make([]uint64, h)
			for shift := range slot {
				slot[shift] = own << shift
			}
			all = append(all, slot)
		}
	}
	return all
}

func runOptimum(ctx context.Context, c experiment.Config) (figure.Result, error) {
	c.Trials = cmp.Or(c.Trials, c.Size(20, 5))
	result := c.Begin(c.Trials)
	pools := []int{4, 8, 16}
	if c.Quick {
		pools = pools[:2]
	}
	few := min(3, c.Trials) // of large filters
	w := c.Work(float64(len(pools)*c.Trials + len(bySize)*few))
	curves := []figure.Curve{
		{Name: "k of H functions: Fig. 9"}, {Name: "k of H functions: optimum"}, {Name: "k of H functions: relaxation"},
		{Name: "k shifts: no noise"}, {Name: "k shifts: our search"}, {Name: "k shifts: optimum"},
	}
	bound := figure.Curve{Name: "k of H functions: bound on the mean", Bound: true}
	gap := figure.Curve{Name: "optimum to relaxation"}
	for _, h := range pools {
		trials, err := experiment.Each(ctx, w, 1, c.Trials, func(ctx context.Context, i int) (tiny, error) {
			return solveTiny(ctx, c, h, i)
		})
		if err != nil {
			return result, err
		}
		for i, of := range []func(t tiny) float64{
			func(t tiny) float64 { return t.greedy }, func(t tiny) float64 { return t.best },
			func(t tiny) float64 { return t.relaxed }, func(t tiny) float64 { return t.plain },
			func(t tiny) float64 { return t.search }, func(t tiny) float64 { return t.bestShifts },
		} {
			r := figure.Mean(fmt.Sprintf("ones, H = %d, %s", h, curves[i].Name), experiment.Values(trials, of))
			result.Add(r)
			curves[i].AddPoint(float64(h), r.Measured/tinyBits)
		}
		least := fewestOnAverage(h)
		ratio := figure.Mean(fmt.Sprintf("optimum to relaxation, H = %d", h),
			experiment.Values(trials, func(t tiny) float64 { return t.best / t.relaxed }))
		result.Add(figure.Exact(fmt.Sprintf("ones, H = %d, no method is below on average", h), least), ratio)
		bound.AddPoint(float64(h), least/tinyBits)
		gap.Add(float64(h), ratio)
	}
	title := fmt.Sprintf("n = %d keys in %d groups, m = %d bits, k = %d", tinyKeys, tinyGroups, tinyBits, tinyK)
	result.Plots = []figure.Plot{{
		Name: "ph-optimum", Title: "Searches and the optimum, " + title, X: "functions or shifts H", Y: "fill", LogX: true,
		Curves: append(curves, bound),
	}, {
		Name: "ph-optimum-gap", Title: "Integrality gap, " + title, X: "functions H", Y: "optimum / relaxation", LogX: true,
		Curves: []figure.Curve{gap},
	}}
	err := addFloors(ctx, c, w, few, &result)
	result.Notes = []string{
		"The relaxation is at most k·m/H: X_ij = k/H for all i and j is a solution. The optimum falls much more " +
			"slowly, so that the gap grows with H without limit, as the paper observes.",
		"The bound for many keys is the fill at which the expected number of choices that set as few bits is 1/2 or " +
			"less: with a probability of at least 1/2 no choice at all is below it.",
	}
	return result, err
}

// fewestOnAverage returns a lower bound of the mean of the optimum of a tiny filter with k of h functions. The
// probability that some choice sets at most y bits is at most the number of choices times the probability for one.
func fewestOnAverage(h int) (mean float64) {
	law := paper.NewBits(tinyBits, 0, tinyKeys*tinyK)
	choices, below := math.Exp2(choiceBits(tinyGroups, tinyK, h)), 0.0
	for _, p := range law {
		below += p
		mean += max(0, 1-choices*below)
	}
	return mean
}

// choiceBits returns the binary logarithm of the number of choices of g groups, each k of h functions.
func choiceBits(g, k, h int) float64 {
	all, _ := math.Lgamma(float64(h + 1))
	chosen, _ := math.Lgamma(float64(k + 1))
	others, _ := math.Lgamma(float64(h - k + 1))
	return float64(g) * (all - chosen - others) / math.Ln2
}

// addFloors adds the bounds for the sizes of Table 1, beside the published rates and our search of some sets of keys.
func addFloors(ctx context.Context, c experiment.Config, w *experiment.Work, sets int, result *figure.Result) error {
	n, level := c.Size(10_000, 2000), filter.Max
	if c.Quick {
		level = filter.Fast
	}
	plot := figure.Plot{
		Name: "ph-optimum-bits", Title: fmt.Sprintf("Rates and bounds, n = %d", n), X: "bits per key",
		Y: "false positive rate", LogY: true, Curves: []figure.Curve{
			{Name: "standard"}, {Name: "published search"}, {Name: fmt.Sprintf("our search, %s effort", level)},
			{Name: "bound, published g, H, k", Bound: true}, {Name: "bound of all filters", Bound: true},
		},
	}
	for _, t := range bySize {
		p := published{n: 10_000, m: t.per * 10_000, g: t.g, h: publishedH, k: t.k}
		floor := math.Pow(paper.ChoiceFloor(p.n, int(p.bits()), p.k, choiceBits(p.g, p.k, p.h)), float64(p.k))
		type pair struct{ rate, floor float64 }
		trials, err := experiment.Each(ctx, w, 1, sets, func(ctx context.Context, i int) (pair, error) {
			b, err := partitioned.NewBuilder(partitioned.Config{
				Size: family.Sizing{BitsPerKey: float64(t.per)}, Effort: filter.Effort{Level: level}, Workers: 1,
			})
			f, err := experiment.Build(ctx, b, err, c.Hashes(n, i))
			if err != nil {
				return pair{}, err
			}
			r := family.Reader(f.Info().Spec)
			k, groups := int(r.Uint("k")), float64(r.Uint("groups"))
			least := paper.ChoiceFloor(n, int(r.Uint("bits")), k, groups*float64(k)*float64(r.Uint("width")))
			return pair{f.Info().FPRPosterior, math.Pow(least, float64(k))}, nil
		})
		if err != nil {
			return err
		}
		label := func(what string) string { return fmt.Sprintf("%d bits per key, %s", t.per, what) }
		ours := figure.Mean(label("our search, p_a"), experiment.Values(trials, func(p pair) float64 { return p.rate }))
		least := math.Exp2(-float64(t.per))
		standard := probe.FPR(uint64(n), uint64(t.per*n), t.standardK)
		result.Add(
			figure.Exact(label("bound, published g, H, k"), floor).
				Noted("the published search has %.3g, %.2f times as much", t.ph, t.ph/floor),
			ours.Noted("%s effort; %.2f times the bound of its groups and shifts, %.3g", level,
				ours.Measured/trials[0].floor, trials[0].floor),
			figure.Exact(label("bound of all filters"), least))
		for i, v := range []float64{standard, t.ph, ours.Measured, floor, least} {
			plot.Curves[i].AddPoint(float64(t.per), v)
		}
	}
	result.Plots = append(result.Plots, plot)
	return nil
}
