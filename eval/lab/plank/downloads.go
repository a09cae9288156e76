package plank

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/bloomery/bloomery/eval/lab/clock"
	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/probe"
)

// downloads runs the worked example of the notes: a cache of a content delivery network asks a filter whether an
// object was downloaded before.
var downloads = experiment.Experiment{
	Name: "plank-downloads", Source: experiment.PlankNotes + ", 100,000,000 downloads in 100 MB",
	Varies: "objects in the filter", Run: runDownloads, Seconds: 8,
}

// workload is the worked example, or a fraction of it.
type workload struct {
	once     int    // objects that are downloaded once
	repeated int    // objects that are downloaded more than once
	more     int    // downloads of these after the first
	bits     uint64 // bits of the filter
}

const downloadsK = 7 // probes

// worked returns the example of the notes with its numbers divided by divisor.
func worked(divisor int) workload {
	return workload{
		once: 75_000_000 / divisor, repeated: 5_000_000 / divisor, more: 20_000_000 / divisor,
		bits: 800_000_000 / uint64(divisor),
	}
}

func (w workload) objects() int { return w.once + w.repeated }

func runDownloads(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1)
	w := worked(c.Size(10, 100))
	if c.Full && !c.Quick {
		w = worked(1)
	}

	all := float64(w.objects() + w.more)
	work := c.Work(all * float64(c.Trials))
	trials, err := experiment.Each(ctx, nil, 0, c.Trials, func(ctx context.Context, trial int) (serving, error) {
		return w.serve(ctx, work, rand.New(rand.NewPCG(c.Seed, uint64(trial))))
	})
	if err != nil {
		return result, err
	}

	// The tallies of the trials are added up. Memory is the same for each, and time is the mean.
	sum, elapsed := trials[0], trials[0].elapsed
	for _, s := range trials[1:] {
		for i := range sum.filling {
			sum.filling[i] = sum.filling[i].Plus(s.filling[i])
		}
		sum.full = sum.full.Plus(s.full)
		sum.keptOnce += s.keptOnce
		elapsed += s.elapsed
	}
	var first experiment.Tally
	for _, t := range sum.filling {
		first = first.Plus(t)
	}

	objects := uint64(w.objects())
	full, filling := probe.FPR(objects, w.bits, downloadsK), fillingFPR(objects, w.bits, downloadsK)
	observed := sum.full.Row("rate of the full filter, standard filter", full)
	hashTable := 2 * 8 * float64(objects)
	memory := float64(sum.bytes)
	result.Add(
		figure.Exact("rate of the full filter, formula", full).Against(0.00819, 0.000005),
		observed.Against(0.00819, 3*experiment.Sigma(float64(sum.full.Of), full, 1)/float64(sum.full.Of)),
		first.Row("false positives per new object, while the filter fills", filling),
		figure.Exact("new objects that are found, of those downloaded once", sum.keptOnce/float64(w.once*c.Trials)).
			Noted("a cache that stores at the second request stores them at the first"),
		figure.Exact("memory of the filter, MB", memory/1e6),
		figure.Exact("memory of a half full hash table of 8-byte hashes, MB", hashTable/1e6),
		figure.Exact("the table's memory by the filter's", hashTable/memory).
			Noted("the notes: \"at least a factor of 10\""),
		figure.Exact("CPU time of a download, ns", elapsed.Seconds()*1e9/(all*float64(c.Trials))).
			Noted("a query, and an addition if the object is new, with the random numbers of the requests"),
	)
	result.Plots = []figure.Plot{w.plot(sum.filling)}
	result.Notes = []string{fmt.Sprintf("%d downloads of %d objects in %d bits. --full takes the 100,000,000 downloads of "+
		"the notes.", w.objects()+w.more, w.objects(), w.bits)}
	return result, nil
}

// serving is the outcome of all downloads.
type serving struct {
	filling  []experiment.Tally // new objects that were found, in equal parts of the objects
	full     experiment.Tally   // further new objects in the full filter
	keptOnce float64            // objects downloaded once that were found
	bytes    uint64             // bytes of the filter
	elapsed  time.Duration      // CPU time of the downloads
}

const downloadParts = 50 // points of the curve

// serve asks an empty filter for each download and adds what it does not contain. Each object of w is downloaded, in
// random order.
func (w workload) serve(ctx context.Context, work *experiment.Work, r *rand.Rand) (s serving, err error) {
	f, err := standard.New(standard.Config{Bits: w.bits, K: downloadsK})
	if err != nil {
		return s, err
	}
	s.filling = make([]experiment.Tally, downloadParts)

	repeated := make([]filter.Hash, 0, w.repeated)
	once, more, objects := w.once, w.more, 0 // once and more are still to come
	runtime.LockOSThread()                   // for the CPU time of the thread
	defer runtime.UnlockOSThread()
	start := clock.ThreadTime()
	const step = 1 << 16
	for left := w.objects() + w.more; left > 0; left-- {
		if left%step == 0 {
			work.Step(step)
			if err := ctx.Err(); err != nil {
				return s, err
			}
		}

		// The kind of the download is drawn without replacement, so that the totals are exact. The first once numbers
		// stand for an object that is downloaded once, the last more for one that was downloaded before.
		kind := r.IntN(left)
		if len(repeated) > 0 && kind >= left-more {
			more--
			if h := repeated[r.IntN(len(repeated))]; !f.Has(h) {
				return s, errors.New("an object that was added is not found")
			}
			continue
		}

		h := filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
		isOnce := kind < once
		if isOnce {
			once--
		} else {
			repeated = append(repeated, h)
		}
		part := &s.filling[objects*downloadParts/w.objects()]
		objects++
		part.Of++
		if f.Has(h) {
			part.Hits++
			if isOnce {
				s.keptOnce++
			}
			continue
		}
		if err := f.Add(h); err != nil {
			return s, err
		}
	}
	s.elapsed = clock.ThreadTime() - start

	for range w.objects() / 8 {
		s.full.Of++
		if f.Has(filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}) {
			s.full.Hits++
		}
	}
	s.bytes = f.Info().Bits / 8
	work.Step(step) // the rest of the last step
	return s, nil
}

// lowestPlotted is the lowest rate of the plot: it is seen with 100,000,000 downloads, and the rate of an almost empty
// filter would compress the rest of the scale.
const lowestPlotted = 1e-6

// plot plots the share of new objects that were found, while the filter fills.
func (w workload) plot(filling []experiment.Tally) figure.Plot {
	formula, measured := figure.Curve{Name: "formula"}, figure.Curve{Name: "standard filter (95% interval)", Dots: true}
	for i, t := range filling {
		middle := (float64(i) + 0.5) / downloadParts * float64(w.objects())
		rate := probe.FPR(uint64(middle), w.bits, downloadsK)
		if rate < lowestPlotted {
			continue
		}
		formula.AddPoint(middle, rate)
		t.AddTo(&measured, middle, rate)
	}
	return figure.Plot{
		Name: "plank-downloads", Title: fmt.Sprintf("Downloads of new objects that a filter of %d MB contains", w.bits/8_000_000),
		X: "objects in the filter", Y: "false positive rate", LogY: true, Curves: []figure.Curve{formula, measured},
	}
}
