package ph

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/internal/probe"
)

// The filter of section 2, and its published values.
const (
	bruteKeys, bruteBits, bruteK = 1000, 8000, 6
	bruteMean, bruteBest         = 4221.06, 4089 // ones; the best of publishedSets
	publishedSets                = 10_000_000
)

// fig1 measures how rarely random functions set few bits. A trial is a set of k functions.
var fig1 = experiment.Experiment{
	Name: "ph-fig1", Source: Paper + ", figure 1", Varies: "number of ones", Run: runTail, Seconds: 6,
}

func runTail(ctx context.Context, c experiment.Config) (figure.Result, error) {
	sets := c.Size(publishedSets/10, 2000)
	if c.Full && !c.Quick {
		sets = publishedSets
	}
	c.Trials = cmp.Or(c.Trials, sets)
	result := c.Begin(c.Trials)
	ones, err := brute(ctx, c, c.Trials)
	if err != nil {
		return result, err
	}
	law := paper.NewBits(bruteBits, 0, bruteKeys*bruteK)
	mean, sd := moments(law)
	values := make([]float64, len(ones))
	share := make([]float64, len(law)) // of the trials, by number of ones
	for i, y := range ones {
		values[i] = float64(y)
		share[y] += 1 / float64(len(ones))
	}
	measured := figure.Mean("ones, mean", values).Noted("%d sets of functions; exactly %.2f", len(ones), mean)
	if len(ones) >= 50_000 { // 0.5 is then more than four standard errors
		measured = measured.Against(bruteMean, 0.5)
	}
	far := bruteMean - bruteBest
	result.Rows = []figure.Row{
		measured,
		figure.Exact("ones, mean by the exact law", mean).
			Against(bruteMean, 0.5).
			Noted("the paper uses m(1-e^(-kn/m)), which is %.2f", -bruteBits*math.Expm1(-6.0/8)),
		deviation("ones, standard deviation", values).Noted("exactly %.3f", sd),
		figure.Exact("ones, standard deviation by the exact law", sd),
		figure.Exact("fill, mean by the exact law", mean/bruteBits).Against(0.528, 0.0005),
		figure.Exact("p_b", probe.FPR(bruteKeys, bruteBits, bruteK)).Against(0.0216, 0.00005),
		figure.Exact("probability of 4089 ones or fewer, by the exact law", upTo(law, bruteBest)),
		figure.Exact("bound of Theorem 1 on it", paper.OnesTail(bruteKeys, bruteK, far)).Noted("for both tails"),
	}
	simulated := figure.Curve{Name: fmt.Sprintf("simulation, %d sets", len(ones)), Dots: true}
	density, bound := figure.Curve{Name: "exact law"}, figure.Curve{Name: "bound of Theorem 1"}
	for y := range int(mean) + 1 {
		if share[y] > 0 && (y%3 == 0 || len(simulated.Points) < 20) {
			simulated.AddPoint(float64(y), share[y])
		}
		if law[y] >= 1e-9 {
			density.AddPoint(float64(y), law[y])
			bound.AddPoint(float64(y), paper.OnesTail(bruteKeys, bruteK, mean-float64(y)))
		}
	}
	if len(simulated.Points) == 0 { // no trial is below the mean
		simulated.AddPoint(math.Floor(mean), 1)
	}
	result.Plots = []figure.Plot{{
		Name: "ph-fig1", Title: fmt.Sprintf("Few ones are rare, n = %d, m = %d, k = %d", bruteKeys, bruteBits, bruteK),
		X: "number of ones", Y: "probability", LogY: true, Curves: []figure.Curve{density, simulated, bound},
	}}
	result.Notes = []string{
		"The paper shows the density of 10^7 sets, which --full draws, and gives no numbers of the curve.",
	}
	return result, nil
}

// fig2 measures the gain of a search that draws all k functions of a filter again for each try. A trial is a set of k
// functions.
var fig2 = experiment.Experiment{
	Name: "ph-fig2", Source: Paper + ", figure 2", Varies: "number of sets of functions that are tried",
	Run: runBrute, Seconds: 57,
}

func runBrute(ctx context.Context, c experiment.Config) (figure.Result, error) {
	c.Trials = cmp.Or(c.Trials, c.Size(publishedSets, 20_000))
	result := c.Begin(c.Trials)
	ones, err := brute(ctx, c, c.Trials)
	if err != nil {
		return result, err
	}
	law := paper.NewBits(bruteBits, 0, bruteKeys*bruteK)
	mean, _ := moments(law)
	best := figure.Curve{Name: "simulation"}
	least := uint16(math.MaxUint16)
	for i, y := range ones {
		if y < least {
			if i > 0 {
				best.AddPoint(float64(i), float64(least)/bruteBits)
			}
			least = y
			best.AddPoint(float64(i+1), float64(y)/bruteBits)
		}
	}
	best.AddPoint(float64(len(ones)), float64(least)/bruteBits)
	expected := figure.Curve{Name: "expected, exact law"}
	floor := figure.Curve{Name: "floor by Theorem 1"}
	for e := range 7*8 + 1 {
		sets := math.Round(math.Pow(10, float64(e)/8))
		expected.AddPoint(sets, paper.Fewest(law, sets)/bruteBits)
		floor.AddPoint(sets, paper.OnesFloor(bruteKeys, bruteBits, bruteK, int(sets), 0.5)/bruteBits)
	}
	fill := float64(least) / bruteBits
	found := []figure.Row{
		figure.Exact(fmt.Sprintf("ones, best of %d sets", len(ones)), float64(least)),
		figure.Exact(fmt.Sprintf("fill, best of %d sets", len(ones)), fill),
		figure.Exact(fmt.Sprintf("p_a, best of %d sets", len(ones)), math.Pow(fill, bruteK)),
	}
	if len(ones) == publishedSets {
		// The smallest of 10^7 numbers has a standard deviation of 6 ones.
		found[0] = found[0].Against(bruteBest, 15).Noted("one random draw, with a standard deviation of about 6 ones")
		found[1], found[2] = found[1].Against(0.511, 0.002), found[2].Against(0.0178, 0.0005)
	}
	theory := paper.Fewest(law, publishedSets)
	result.Rows = append(found,
		figure.Exact("ones, best of 10^7 expected by the exact law", theory).Against(bruteBest, 15),
		figure.Exact("the same by the recurrence of section 4, one group",
			bruteBits*paper.GroupFill(bruteKeys, bruteBits, bruteK, 1, publishedSets)),
		figure.Exact("p_a, best of 10^7 expected by the exact law", math.Pow(theory/bruteBits, bruteK)).
			Against(0.0178, 0.0005),
		figure.Exact("p_a, best of 10^9 expected by the exact law", math.Pow(paper.Fewest(law, 1e9)/bruteBits, bruteK)))
	result.Plots = []figure.Plot{{
		Name:  "ph-fig2",
		Title: fmt.Sprintf("Brute force gains little, n = %d, m = %d, k = %d", bruteKeys, bruteBits, bruteK),
		X:     "sets of functions tried", Y: "least fill", LogX: true,
		Curves: []figure.Curve{
			expected, best, floor,
			{Name: "published", Dots: true, Points: [][2]float64{{publishedSets, float64(bruteBest) / bruteBits}}},
			figure.Level("mean", 1, mean/bruteBits),
		},
	}}
	result.Notes = []string{
		"The paper gives the minimum only as a curve, except its end. The floor is a bound by Theorem 1: the best " +
			"set is above it with probability 1/2 or more.",
	}
	return result, nil
}

// brute returns the number of ones of each of a number of filters with random functions. Every 5000 filters have a
// separate generator.
func brute(ctx context.Context, c experiment.Config, sets int) (ones []uint16, err error) {
	const part = 5000
	parts := (sets + part - 1) / part
	ones = make([]uint16, sets)
	_, err = experiment.Each(ctx, c.Work(float64(parts)), 1, parts, func(_ context.Context, i int) (struct{}, error) {
		r := rand.NewPCG(c.Seed, uint64(i))
		bitmap := make([]uint64, (bruteBits+63)/64)
		mine := ones[i*part : min(sets, (i+1)*part)]
		for j := range mine {
			mine[j] = uint16(countOnes(r, bitmap, bruteBits, bruteKeys*bruteK))
		}
		return struct{}{}, nil
	})
	return ones, err
}

// countOnes returns the number of bits, of m, that random throws set. bitmap is scratch space of m bits.
func countOnes(r *rand.PCG, bitmap []uint64, m, throws int) (ones int) {
	clear(bitmap)
	for i := 0; i < throws; i += 2 {
		x := r.Uint64()
		a := experiment.Throw(uint32(x>>32), m)
		bitmap[a/64] |= 1 << (a % 64)
		if i+1 < throws {
			b := experiment.Throw(uint32(x), m)
			bitmap[b/64] |= 1 << (b % 64)
		}
	}
	for _, w := range bitmap {
		ones += bits.OnesCount64(w)
	}
	return ones
}

// moments returns the mean and the standard deviation of a number with the law p over 0, 1, 2, ...
func moments(p []float64) (mean, sd float64) {
	for y, q := range p {
		mean += q * float64(y)
	}
	for y, q := range p {
		sd += q * (float64(y) - mean) * (float64(y) - mean)
	}
	return mean, math.Sqrt(sd)
}

// upTo returns the probability of at most y under the law p.
func upTo(p []float64, y int) (sum float64) {
	for _, q := range p[:y+1] {
		sum += q
	}
	return sum
}

// deviation returns the row of the standard deviation of v. Its 95% interval assumes many nearly normal values.
func deviation(label string, v []float64) figure.Row {
	mean, _, _ := figure.MeanInterval(v)
	squares := 0.0
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	n := float64(max(2, len(v)))
	sd := math.Sqrt(squares / (n - 1))
	half := 1.96 * sd / math.Sqrt(2*(n-1))
	return figure.Row{Label: label, Measured: sd, Low: max(0, sd-half), High: sd + half}
}
