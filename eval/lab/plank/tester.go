package plank

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/internal/probe"
	"github.com/bloomery/bloomery/internal/stat"
)

// bfTester repeats the simulation of Plank's BF-tester: a cache stores blocks at their second request. Some blocks are
// requested repeatedly, the others once.
var bfTester = experiment.Experiment{
	Name: "plank-tester", Source: experiment.PlankNotes + ", BF-tester 1 1024 5000 75 100000 800000 k 0", Varies: "k",
	Run: runTester, Seconds: 8,
}

// The output of the eight runs of the notes, all with the same blocks.
const testerBlocks = 79_997

var testerFound = []int{3735, 898, 356, 225, 155, 131, 124, 106} // false positives for k = 1, 2, ...

// tester is a set of arguments of BF-tester.
type tester struct {
	block  int // bytes
	reused int // number of blocks that are requested repeatedly
	oneOff int // percentage of events with a block that comes once
	events int
	m      uint32
}

func runTester(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(40)
	sim := tester{block: 1024, reused: 5000, oneOff: 75, events: 100_000, m: 800_000}
	if c.Quick {
		sim.reused, sim.events, sim.m = sim.reused/10, sim.events/10, sim.m/10
	}
	most := len(testerFound)
	trials, err := experiment.Each(ctx, c.Work(float64(c.Trials)), 1, c.Trials,
		func(ctx context.Context, trial int) ([]float64, error) {
			found, blocks, err := sim.run(rand.NewPCG(c.Seed, uint64(trial)), most)
			values := []float64{float64(blocks)}
			for _, f := range found {
				values = append(values, float64(f)/float64(blocks))
			}
			return values, cmp.Or(err, ctx.Err())
		})
	if err != nil {
		return result, err
	}
	all := experiment.Columns(trials)
	blocks := figure.Mean("blocks that were new (N)", all[0])
	oneOff := float64(sim.oneOff) / 100
	expected := sim.expected()
	if !c.Quick {
		blocks = blocks.Against(testerBlocks, 3*experiment.Sigma(float64(sim.events), oneOff, c.Trials))
	}
	result.Add(blocks.Noted("expected %.0f; tolerance: 3 σ of one run and of ours", expected))
	plot := figure.Plot{
		Name: "plank-tester", Title: fmt.Sprintf("BF-tester, %d events, %d bits", sim.events, sim.m),
		X: "k", Y: "false positives a new block", LogY: true,
	}
	full, filling := figure.Curve{Name: "full filter (findk)"}, figure.Curve{Name: "while it fills (findinck)"}
	published := figure.Curve{Name: "one run of the notes", Dots: true}
	ours := figure.Curve{Name: fmt.Sprintf("ours, %d runs (95%% interval)", c.Trials), Dots: true}
	ratio := figure.Plot{
		Name: "plank-tester-ratio", X: "k", Y: "found / expected",
		Title: fmt.Sprintf("BF-tester, %d events, %d bits: false positives against theory", sim.events, sim.m),
	}
	theirs := figure.Curve{Name: "one run of the notes (95% interval)", Dots: true}
	mine := figure.Curve{Name: ours.Name, Dots: true}
	n := uint64(math.Round(blocks.Measured))
	for i, v := range all[1:] {
		k := i + 1
		theory := fillingFPR(n, uint64(sim.m), k)
		r := figure.Mean(fmt.Sprintf("k = %d, false positives a new block", k), v)
		note := fmt.Sprintf("theory %.6f", theory)
		if !c.Quick {
			rate := float64(testerFound[i]) / testerBlocks
			r = r.Against(rate, 3*experiment.Sigma(testerBlocks, theory, c.Trials)/testerBlocks)
			note += fmt.Sprintf(
				"; the notes found %d in one run, where theory expects %.0f ± %.0f (1 σ); tolerance: 3 σ of it and "+
					"of ours", testerFound[i], theory*testerBlocks, math.Sqrt(theory*testerBlocks),
			)
			published.AddPoint(float64(k), rate)
			low, high := stat.Interval(uint64(testerFound[i]), testerBlocks, 0.95)
			theirs.AddRatio(float64(k)-0.06, figure.Row{Measured: rate, Low: low, High: high}, theory)
		}
		result.Add(r.Noted("%s", note))
		full.AddPoint(float64(k), probe.FPR(n, uint64(sim.m), k))
		filling.AddPoint(float64(k), theory)
		ours.Add(float64(k), r)
		mine.AddRatio(float64(k)+0.06, r, theory)
	}
	ratio.Curves = []figure.Curve{mine}
	plot.Curves = []figure.Curve{full, filling, ours}
	if published.Points != nil {
		plot.Curves, ratio.Curves = append(plot.Curves, published), append(ratio.Curves, theirs)
	}
	ratio.Curves = append(ratio.Curves, figure.Level("theory (findinck)", 1, 1))
	result.Plots = []figure.Plot{plot, ratio}
	result.Notes = []string{
		"The blocks are random, but not the same as in the notes, which do not print their generator (Mother Of All). " +
			"Each of our runs has its own blocks, the same for all k.",
		"An added block that is not found would stop the experiment: there was none.",
	}
	return result, nil
}

// run simulates k = 1 ... most, with one filter for each k and the same blocks for all. It returns the number of new
// blocks that each filter contained, and the number of new blocks. It returns an error if a filter does not contain a
// block that was added.
func (t tester) run(source rand.Source, most int) (found []int, blocks int, err error) {
	r := rand.New(source)
	filters := make([]paper.Bitmap, most)
	for i := range filters {
		filters[i] = paper.NewBitmap(uint64(t.m))
	}
	found = make([]int, most)
	known := make([][]byte, t.reused) // nil before the first use
	once := make([]byte, 1+t.block)
	at := make([]uint64, most)
	for range t.events {
		block, fresh := once, true
		if r.IntN(100) >= t.oneOff {
			i := r.IntN(t.reused)
			if fresh = known[i] == nil; fresh {
				known[i] = make([]byte, 1+t.block)
			}
			block = known[i]
		}
		if fresh {
			blocks++
			experiment.FillRandom(r, block[1:])
		}
		hash := paper.MD5Positions{Block: block, M: t.m}
		for j := range at {
			at[j] = hash.At(j)
		}
		for i, f := range filters {
			switch has := f.Has(at[:i+1]...); {
			case has && fresh:
				found[i]++
			case !has && !fresh:
				return nil, 0, fmt.Errorf("k = %d: a block that was added is not found", i+1)
			case !has:
				f.Set(at[:i+1]...)
			}
		}
	}
	return found, blocks, nil
}

// expected returns the mean number of new blocks: one-off blocks, and the reused blocks that are requested at all.
func (t tester) expected() float64 {
	oneOff := float64(t.oneOff) / 100
	missed := math.Pow(1-(1-oneOff)/float64(t.reused), float64(t.events))
	return float64(t.events)*oneOff + float64(t.reused)*(1-missed)
}
