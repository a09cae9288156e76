package ptc

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/family/twochoice"
)

// law is the exact law of the number of ones after some keys are added one by one, with random positions that may
// coincide in a group. The paper says in section 3.1 how to iterate it and then uses an approximation.
type law struct {
	choice
	m     int
	least int         // the smallest number of ones with a probability in ones
	ones  []float64   // Pr[X = least], Pr[X = least+1], ...
	steps [][]float64 // steps[x] is the law of the new ones of a key in a filter with x ones, or nil
}

// negligible bounds the probabilities at both ends of the law that are dropped.
const negligible = 1e-60

// newLaw returns the law of an empty filter for n keys.
func newLaw(x choice, n int) *law {
	m := int(x.bits * float64(n))
	return &law{choice: x, m: m, ones: []float64{1}, steps: make([][]float64, m+1)}
}

// step returns the law of the number of new ones of a key in a filter with x ones.
func (l *law) step(x int) []float64 {
	if l.steps[x] != nil {
		return l.steps[x]
	}
	group := make([]float64, l.k+1) // the law of the distinct zeros among the positions of a group
	group[0] = 1
	for i := range l.k {
		for j := i + 1; j >= 0; j-- {
			p := group[j] * float64(x+j) / float64(l.m)
			if j > 0 {
				p += group[j-1] * float64(l.m-x-j+1) / float64(l.m)
			}
			group[j] = p
		}
	}

	fewest, above, before := make([]float64, l.k+1), 0.0, 0.0 // of c groups; Pr[group > j], and its power c
	for j := l.k; j >= 0; j-- {
		above += group[j]
		tail := math.Pow(min(1, above), float64(l.c))
		fewest[j], before = tail-before, tail
	}
	l.steps[x] = fewest
	return fewest
}

// add adds a key.
func (l *law) add() {
	next := make([]float64, len(l.ones)+l.k)
	for i, p := range l.ones {
		if p == 0 || l.least+i > l.m {
			continue
		}
		for j, q := range l.step(l.least + i) {
			next[i+j] += p * q
		}
	}
	first, end := 0, len(next)
	for next[first] < negligible {
		first++
	}
	for next[end-1] < negligible {
		end--
	}
	l.least, l.ones = l.least+first, next[first:end]
}

// mean returns the mean of what of returns for the number of ones.
func (l *law) mean(of func(ones float64) float64) (sum float64) {
	for i, p := range l.ones {
		sum += p * of(float64(l.least+i))
	}
	return sum
}

// moments returns the mean and the standard deviation of what of returns for the number of ones.
func (l *law) moments(of func(ones float64) float64) (mean, sigma float64) {
	mean = l.mean(of)
	return mean, math.Sqrt(l.mean(func(x float64) float64 { d := of(x) - mean; return d * d }))
}

// tail returns Pr[|X - mean| >= far].
func (l *law) tail(mean, far float64) float64 {
	return l.mean(func(x float64) float64 {
		if math.Abs(x-mean) >= far {
			return 1
		}
		return 0
	})
}

// theorem32 returns the bound of Theorem 3.2 on Pr[|X - E[X]| >= far] for n keys: 2·exp(-far²/(2·n·k²)).
func (x choice) theorem32(far, n float64) float64 {
	return 2 * math.Exp(-far*far/(2*n*float64(x.k*x.k)))
}

// refined returns a tighter bound, which the paper suggests: Freedman's inequality for the same martingale W. If two
// filters differ by one bit and get the same hashes, their numbers of ones always differ by at most one, so that the
// variance of W_i - W_(i-1) is at most the variance of the new ones of a key; variance is its largest value.
//
//	Pr[|X - E[X]| >= far] <= 2·exp(-far²/(2·(n·variance + k·far/3)))
func (x choice) refined(far, n, variance float64) float64 {
	return 2 * math.Exp(-far*far/(2*(n*variance+float64(x.k)*far/3)))
}

// largestVariance returns the largest variance of the new ones of a key, over all numbers of ones that occurred.
func (l *law) largestVariance() (largest float64) {
	for _, step := range l.steps {
		mean, square := 0.0, 0.0
		for j, p := range step {
			mean += p * float64(j)
			square += p * float64(j*j)
		}
		largest = max(largest, square-mean*mean)
	}
	return largest
}

// exactLaw compares the exact law with Tables 1 and 2, whose trials it replaces, and with Theorem 3.2.
var exactLaw = experiment.Experiment{
	Name: "ptc-law", Source: Paper + ", X_t and Theorem 3.2",
	Varies: "bits per key, choices, k", Run: runLaw, Seconds: 8, FullOnly: true,
}

// tableShares are the shares of ones in Table 2, in the order of the rows of Table 1 with more than one choice.
var tableShares = []float64{0.5296, 0.5020, 0.5187, 0.4994, 0.5016, 0.5022}

// tableTrials is the number of trials of the tables of the paper.
const tableTrials = 1000

func runLaw(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1000)
	n := c.Size(10_000, 500)
	w := c.Work(float64(len(onlineRows)) + 1)
	laws, err := experiment.Each(ctx, w, 1, len(onlineRows), func(ctx context.Context, i int) (*law, error) {
		l := newLaw(onlineRows[i].choice, n)
		for range n {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			l.add()
		}
		return l, nil
	})
	if err != nil {
		return result, err
	}
	shares := tableShares
	for i, l := range laws {
		p := onlineRows[i]
		add := func(what string, published, digit float64, of func(ones float64) float64) float64 {
			mean, sigma := l.moments(of)
			r := figure.Exact(p.String()+", "+what, mean).Noted("standard deviation of one filter %.3g", sigma)
			if !c.Quick {
				off := sigma / math.Sqrt(tableTrials)
				r = r.Against(published, digit+toleratedErrors*off)
				r.Note += fmt.Sprintf("; the published mean of %d trials lies %+.1f standard errors from it", tableTrials,
					(published-mean)/off)
			}
			result.Add(r)
			return mean
		}
		if p.c > 1 {
			share := add("E[X]/m", shares[0], 0.00005, func(x float64) float64 { return x / float64(l.m) })
			shares = shares[1:]
			by := twochoice.Fill(p.bits, p.k, p.c)
			result.Add(figure.Exact(p.String()+", E[X] - m·z(1), bits", math.Abs(share-by)*float64(l.m)).
				Noted("Theorem 3.3: o(m). By equation 3.2 the share is %.6f, by the exact law %.6f", by, share))
		}
		// The last of four digits: rates are printed as 2.159e-2.
		unit := math.Pow(10, math.Floor(math.Log10(p.rate))-3)
		add("E[rate]", p.rate, unit/2, func(x float64) float64 { return p.choice.rate(x / float64(l.m)) })
	}

	rows, plot := concentration(c, laws[1], n)
	w.Step(1)
	result.Add(rows...)
	result.Plots = []figure.Plot{plot}
	result.Notes = []string{
		"The law of X_(t+1) follows from the law of X_t: the new ones of a group are the distinct zeros among k random " +
			"positions, and a key sets the fewest of c groups. Nothing is simulated or approximated, except the dots. " +
			"Tolerance: half of the last printed digit, and 3 standard errors of the mean of the paper's 1000 trials.",
		"Theorem 3.2: Pr[|X - E[X]| >= λ] <= 2·exp(-λ²/(2nk²)). It assumes that a key may change X by k in both " +
			"directions. The variance of a step gives a tighter bound (Freedman): 2·exp(-λ²/(2(nv + kλ/3))), with v " +
			"the largest variance of the new ones of a key. Both are proved with the same martingale and the same " +
			"coupling: two filters that differ by one bit and get the same hashes always differ by at most one bit.",
	}
	return result, nil
}

// concentration compares the exact tails of a law of n keys with the bounds and with simulations.
func concentration(c experiment.Config, l *law, n int) (rows []figure.Row, plot figure.Plot) {
	mean, sigma := l.moments(func(x float64) float64 { return x })
	variance := l.largestVariance()
	plot = figure.Plot{
		Name: "ptc-law", Title: fmt.Sprintf("Distance of the ones from their mean: %s, n = %d", l.choice, n),
		X: "λ in standard deviations of X", Y: "Pr[|X - E[X]| ≥ λ]", LogY: true,
	}
	exact, theorem := figure.Curve{Name: "exact law"}, figure.Curve{Name: "Theorem 3.2", Bound: true}
	refined := figure.Curve{Name: "with the variance of a step", Bound: true}
	const widest, lowest = 16, 1e-16
	for z := 0.5; z <= widest; z += 0.5 {
		far := z * sigma
		if p := l.tail(mean, far); p >= lowest {
			exact.AddPoint(z, p)
		}
		theorem.AddPoint(z, min(1, l.theorem32(far, float64(n))))
		refined.AddPoint(z, min(1, l.refined(far, float64(n), variance)))
	}
	trials := make([]float64, c.Size(c.Trials, 100*c.Trials)) // fast with the few keys of a quick run
	for i := range trials {
		r := rand.New(rand.NewPCG(c.Seed, uint64(i)))
		trials[i] = math.Abs(float64(l.choice.simulate(r, n, 1)) - mean)
	}
	simulated := figure.Curve{Name: fmt.Sprintf("%d simulations", len(trials)), Dots: true}
	for z := 0.5; z <= 4; z += 0.5 {
		tally := experiment.Tally{Of: uint64(len(trials))}
		for _, far := range trials {
			if far >= z*sigma {
				tally.Hits++
			}
		}
		p := l.tail(mean, z*sigma)
		tally.AddTo(&simulated, z, p)
		if z == math.Trunc(z) {
			r := figure.Row{Label: fmt.Sprintf("%s, simulated: %g σ and farther", l.choice, z)}
			r.Measured = float64(tally.Hits) / float64(tally.Of)
			r.Low, r.High = tally.Interval()
			rows = append(rows, r.Noted("%d of %d; by the exact law %.4g", tally.Hits, tally.Of, p))
		}
	}

	row := func(label string, far float64) {
		rows = append(rows, figure.Exact(fmt.Sprintf("%s, exact: %s", l.choice, label), l.tail(mean, far)).
			Noted("Theorem 3.2: at most %.3g; with the variance of a step: %.3g",
				min(1, l.theorem32(far, float64(n))), min(1, l.refined(far, float64(n), variance))))
	}
	for z := 1.0; z <= 6; z++ {
		row(fmt.Sprintf("%g σ and farther", z), z*sigma)
	}
	least := float64(l.k) * math.Sqrt(2*float64(n)*math.Ln2) // where the bound of Theorem 3.2 is 1
	row(fmt.Sprintf("%.1f σ and farther, from where Theorem 3.2 is below 1", least/sigma), least)
	plot.Curves = []figure.Curve{exact, theorem, refined, simulated}
	return rows, plot
}
