package plank

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/internal/probe"
	"github.com/bloomery/bloomery/internal/stat"
)

// example16bit reproduces the filter of 16 bits in Plank's notes.
var example16bit = experiment.Experiment{
	Name: "plank-16bit", Source: experiment.PlankNotes + ", the example of 16 bits",
	Varies: "digests that are asked for", Run: run16bit, Seconds: 1,
}

// The example: four files in a filter of 16 bits, with three positions each.
const (
	smallBits = 16
	smallK    = 3
)

// smallDigests are the MD5 digests of the four files, from the notes. The files are not given.
var smallDigests = []string{
	"29295e325b77f8f822522728e795c1a4", "bcf9342184102dbd2107b7ba3cd4250e",
	"6559d5cb11a5ddab8573699ae360cb5a", "faa43b30a66d00ba9b534a030ea09f88",
}

func run16bit(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(20_000)
	small := paper.NewBitmap(smallBits)
	for _, s := range smallDigests {
		digest, err := hex.DecodeString(s)
		if err != nil {
			return result, err
		}
		small.Set(paper.Nibbles(digest, smallK)...)
	}
	const asked, published = 100, 12
	after := math.Pow(small.Fill(smallBits), smallK)
	counts, err := experiment.Each(ctx, c.Work(float64(c.Trials)), 1, c.Trials,
		func(ctx context.Context, trial int) (float64, error) {
			r := rand.New(rand.NewPCG(c.Seed, uint64(trial)))
			var found float64
			name := make([]byte, 12)
			for range asked {
				experiment.FillRandom(r, name)
				digest := md5.Sum(name)
				if small.Has(paper.Nibbles(digest[:], smallK)...) {
					found++
				}
			}
			return found, nil
		})
	if err != nil {
		return result, err
	}

	lines := traced.trace()
	equal := 0
	for i, printed := range tracePrinted {
		if lines[i] == printed {
			equal++
		}
	}
	found, blocks, err := traced.run(notesSeed, smallK)
	if err != nil {
		return result, err
	}

	n := uint64(len(smallDigests))
	result.Rows = []figure.Row{
		figure.Exact("the filter as a number (0x9e64)", float64(small[0])).Against(0x9e64, 0),
		figure.Exact("rate by (1-e^(-kn/m))^k", math.Pow(-math.Expm1(-float64(smallK*n)/smallBits), smallK)).
			Against(0.147, 0.0005).
			Noted("the formula behind the printed number"),
		figure.Exact("p_b by (1-(1-1/m)^(kn))^k", probe.FPR(n, smallBits, smallK)).Against(0.147, 0.0005).
			Noted("without the approximation by e, which is 6%% lower at 16 bits"),
		figure.Exact("rate over all sets of four keys, exact", stat.Occupancy(smallBits, smallK)(n)).
			Against(0.147, 0.0005).
			Noted("the mean of fill^k; the formulas take (mean fill)^k (Bose et al., 2008)"),
		figure.Exact("p_a of this filter, 8 of 16 bits", after).
			Noted("the rate of this filter: its keys set 8 bits, where 8.6 are expected"),
		figure.Mean("false positives of 100 random digests", counts).
			Against(published, 3*experiment.Sigma(asked, after, c.Trials)).
			Noted("p_a expects %.1f; tolerance: 3 σ of one run of 100 and of ours", asked*after),
		figure.Exact("BF-Tester 1 1024 1 50 10 16 3 1: events that equal the notes", float64(equal)).
			Against(float64(len(tracePrinted)), 0).
			Noted("the notes print 9 of 10 events; the missing last one is %s", lines[len(lines)-1]),
		figure.Exact("the same run: false positives per new block", float64(found[smallK-1])/float64(blocks)).
			Against(0.2, 0),
	}
	result.Plots = []figure.Plot{smallPlot(counts, asked, after, published)}
	return result, nil
}

// smallPlot plots the distribution of the number of false positives of 100 digests.
func smallPlot(counts []float64, asked int, rate, published float64) figure.Plot {
	theory := figure.Curve{Name: "binomial, 100 chances of p_a"}
	ours := figure.Curve{Name: fmt.Sprintf("ours, %d times", len(counts)), Dots: true}
	seen := make([]int, asked+1)
	for _, v := range counts {
		seen[int(v)]++
	}
	b := distuv.Binomial{N: float64(asked), P: rate}
	for x := range 29 {
		theory.AddPoint(float64(x), b.Prob(float64(x)))
		if seen[x] > 0 {
			ours.AddPoint(float64(x), float64(seen[x])/float64(len(counts)))
		}
	}
	return figure.Plot{
		Name: "plank-16bit", Title: "False positives of 100 digests in the filter 0x9e64", X: "false positives",
		Y: "share of the runs",
		Curves: []figure.Curve{theory, ours, {
			Name: "the run of the notes", Dots: true, Points: [][2]float64{{published, b.Prob(published)}},
			Bars: [][2]float64{{0, b.Prob(published)}},
		}},
	}
}
