package plank

import (
	"cmp"
	"context"
	"fmt"
	"math"

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

// notesSeed is the first argument of BF-tester in all runs of the notes.
const notesSeed = 1

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

// tested has the arguments of the eight runs.
var tested = tester{block: 1024, reused: 5000, oneOff: 75, events: 100_000, m: tableBits}

func runTester(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(20)

	// Run 0 is the run of the notes. The others show how far it lies from their mean.
	most := len(testerFound)
	counts, err := experiment.Each(ctx, c.Work(float64(1+c.Trials)), 1, 1+c.Trials,
		func(ctx context.Context, run int) ([]float64, error) {
			seed := uint32(notesSeed)
			if run > 0 {
				seed = uint32(c.Seed)<<16 + uint32(run)
			}
			found, blocks, err := tested.run(seed, most)
			values := []float64{float64(blocks)}
			for _, f := range found {
				values = append(values, float64(f))
			}
			return values, cmp.Or(err, ctx.Err())
		})
	if err != nil {
		return result, err
	}
	notes, others := counts[0], counts[1:]

	result.Add(figure.Exact("the run of the notes: blocks that were new (N)", notes[0]).Against(testerBlocks, 0))
	full, filling := figure.Curve{Name: "full filter (findk)"}, figure.Curve{Name: "while it fills (findinck)"}
	theirs := figure.Curve{Name: "the run of the notes (95% interval)", Dots: true}
	theirRatio := figure.Curve{Name: theirs.Name, Dots: true}
	for i, published := range testerFound {
		k := i + 1
		theory := fillingFPR(testerBlocks, tableBits, k)
		expected := theory * testerBlocks
		found := notes[k]
		result.Add(figure.Exact(fmt.Sprintf("k = %d, the run of the notes: false positives", k), found).
			Against(float64(published), 0).
			Noted("theory expects %.0f ± %.0f (1 σ)", expected, math.Sqrt(expected)))

		rate := figure.Row{Measured: found / notes[0]}
		rate.Low, rate.High = stat.Interval(uint64(found), uint64(notes[0]), 0.95)
		theirs.Add(float64(k), rate)
		theirRatio.AddRatio(float64(k)-0.06, rate, theory)
		full.AddPoint(float64(k), probe.FPR(testerBlocks, tableBits, k))
		filling.AddPoint(float64(k), theory)
	}

	mean := fmt.Sprintf("mean of %d runs (95%% interval)", c.Trials)
	ours, ourRatio := figure.Curve{Name: mean, Dots: true}, figure.Curve{Name: mean, Dots: true}
	columns := experiment.Columns(others)
	result.Add(figure.Mean("other seeds: blocks that were new", columns[0]).Noted("expected %.0f", tested.expected()))
	for i := range testerFound {
		k := i + 1
		rates := make([]float64, len(others))
		for run, values := range others {
			rates[run] = values[k] / values[0]
		}
		r := figure.Mean(fmt.Sprintf("k = %d, other seeds: false positives per new block", k), rates)
		theory := filling.Points[i][1]
		result.Add(r.Noted("theory %.6f", theory))
		ours.Add(float64(k), r)
		ourRatio.AddRatio(float64(k)+0.06, r, theory)
	}

	result.Plots = []figure.Plot{{
		Name: "plank-tester", Title: "BF-tester, 100,000 events, 800,000 bits",
		X: "k", Y: "false positives per new block", LogY: true,
		Curves: []figure.Curve{full, filling, ours, theirs},
	}, {
		Name: "plank-tester-ratio", Title: "BF-tester, 100,000 events, 800,000 bits: false positives against theory",
		X: "k", Y: "found / expected",
		Curves: []figure.Curve{ourRatio, theirRatio, figure.Level("theory (findinck)", 1, 1)},
	}}
	result.Notes = []string{
		"The run of the notes uses their generator (Mother of All) and seed 1, so that blocks and counts are the same. " +
			"Each other run has its own blocks, the same for all k.",
		"An added block that is not found would stop the experiment: there was none.",
	}
	return result, nil
}

// requests calls see with the first most positions of the block of each event of the run that starts with seed. fresh
// is true if the block was not requested before. see must not keep at. An error of see ends the run.
func (t tester) requests(seed uint32, most int, see func(fresh bool, at []uint64) error) error {
	r := newMother(seed)
	known := make([][]byte, t.reused) // nil before the first use
	once := make([]byte, 1+t.block)
	at := make([]uint64, most)
	for range t.events {
		block, fresh := once, true
		if r.below(100) >= t.oneOff {
			i := r.below(t.reused)
			if fresh = known[i] == nil; fresh {
				known[i] = make([]byte, 1+t.block)
			}
			block = known[i]
		}
		if fresh {
			// BF-tester fills the byte in front as well, which the hashing overwrites. Without it, later blocks differ.
			r.fill(block)
		}

		hash := paper.MD5Positions{Block: block, M: t.m}
		for j := range at {
			at[j] = hash.At(j)
		}
		if err := see(fresh, at); err != nil {
			return err
		}
	}
	return nil
}

// run simulates k = 1 ... most with a filter for each and the same blocks for all. It returns the number of new blocks
// that each filter contained, and the number of new blocks. It returns an error if a filter does not contain a block
// that was added.
func (t tester) run(seed uint32, most int) (found []int, blocks int, err error) {
	filters := make([]paper.Bitmap, most)
	for i := range filters {
		filters[i] = paper.NewBitmap(uint64(t.m))
	}
	found = make([]int, most)

	err = t.requests(seed, most, func(fresh bool, at []uint64) error {
		if fresh {
			blocks++
		}
		for i, f := range filters {
			switch has := f.Has(at[:i+1]...); {
			case has && fresh:
				found[i]++
			case !has && !fresh:
				return fmt.Errorf("k = %d: a block that was added is not found", i+1)
			case !has:
				f.Set(at[:i+1]...)
			}
		}
		return nil
	})
	return found, blocks, err
}

// expected returns the mean number of new blocks: one-off blocks, and the reused blocks that are requested at all.
func (t tester) expected() float64 {
	oneOff := float64(t.oneOff) / 100
	missed := math.Pow(1-(1-oneOff)/float64(t.reused), float64(t.events))
	return float64(t.events)*oneOff + float64(t.reused)*(1-missed)
}
