// Package experiment provides the common code of the experiments of the lab: descriptions, configuration, use of all
// cores, reports of progress, and filters with random keys.
package experiment

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/stat"
)

// Documents whose experiments are in more than one room.
const (
	RankIndexed = "rank-indexed hashing (Hua, Zhao, Lin and Xu, 2008)"
	PlankNotes  = "Plank's lecture notes (2016)"
	SahaSlides  = "Saha's slides"
)

// Experiment is one table or figure.
type Experiment struct {
	Name   string `json:"name"`
	Source string `json:"source"` // document and table or figure, or our page that shows the experiment
	Varies string `json:"varies"`
	// Seconds is the approximate time of a full run on two cores. Reports estimate the time left from it.
	Seconds int `json:"seconds"`
	// FullOnly is true if only full runs compare with published values, since quick runs have other sizes.
	FullOnly bool `json:"-"`
	// Run runs the experiment. Do fills in Name and Source of the result.
	Run func(context.Context, Config) (figure.Result, error) `json:"-"`
}

// Do runs the experiment. All points of the curves of its result are finite.
func (e Experiment) Do(ctx context.Context, c Config) (figure.Result, error) {
	r, err := e.Run(ctx, c)
	r.Name, r.Source = e.Name, e.Source
	if c.Quick {
		r.ExplainNoise()
	}
	if c.Quick && e.FullOnly {
		r.Notes = append(r.Notes, "--quick: other sizes than the document's; not compared with its values.")
	}
	r.DropNonFinite()
	return r, err
}

// Config holds the parameters of a run. A zero field has the default noted beside it.
type Config struct {
	Trials int    // sets of keys; 0: the default of the experiment
	Seed   uint64 // 0: 1
	Quick  bool   // fewer keys and trials, to check that everything works
	Full   bool   // run the larger sets of keys that experiments omit by default to save time; ignored with Quick
	// Trace is a file of requests, one key a line, for experiments that replay requests. Empty: made-up requests only.
	Trace string
	// Packets is a pcap or pcapng file for experiments that take payloads as keys. Empty: the capture in the lab.
	Packets string
	// Progress, if not nil, is called with the share done, in [0, 1], by one goroutine at a time.
	Progress func(done float64)
}

// Begin fills in the defaults and returns an empty result. trials is the experiment's default number of trials.
func (c *Config) Begin(trials int) figure.Result {
	c.Trials, c.Seed = cmp.Or(c.Trials, c.Size(trials, 2)), cmp.Or(c.Seed, 1)
	if c.Progress == nil {
		c.Progress = func(float64) {}
	}
	return figure.Result{Seed: c.Seed, Trials: c.Trials}
}

// Size returns normal, or quick in a quick run.
func (c *Config) Size(normal, quick int) int {
	if c.Quick {
		return quick
	}
	return normal
}

// Tally is a number of absent keys and of the false positives among them.
type Tally struct{ Hits, Of uint64 }

// Plus returns the sum of two tallies.
func (t Tally) Plus(d Tally) Tally { return Tally{t.Hits + d.Hits, t.Of + d.Of} }

// Interval returns the exact 95% interval of the rate (Clopper and Pearson).
func (t Tally) Interval() (low, high float64) { return stat.Interval(t.Hits, t.Of, 0.95) }

// Judges reports whether the tally can test a predicted rate: whether the rate predicts at least 3 hits.
func (t Tally) Judges(rate float64) bool { return rate*float64(t.Of) >= 3 }

// Row returns the row of the observed rate. Its note compares it with rate, the predicted p_a.
func (t Tally) Row(label string, rate float64) figure.Row {
	r := figure.Row{Label: label, Measured: float64(t.Hits) / float64(t.Of)}
	r.Low, r.High = t.Interval()
	switch {
	case !t.Judges(rate):
		return r.Noted("%d of %d, where p_a expects %.2g: too few to see it", t.Hits, t.Of, rate*float64(t.Of))
	case r.Low <= rate && rate <= r.High:
		return r.Noted("%d of %d, p_a lies in the interval", t.Hits, t.Of)
	}
	return r.Noted("%d of %d, p_a lies outside of the interval", t.Hits, t.Of)
}

// AddTo appends the observed rate and its interval to a curve, unless there is no hit or rate predicts less than one
// hit.
func (t Tally) AddTo(curve *figure.Curve, x, rate float64) {
	if t.Hits > 0 && rate*float64(t.Of) >= 1 {
		low, high := t.Interval()
		curve.Add(x, figure.Row{Measured: float64(t.Hits) / float64(t.Of), Low: low, High: high})
	}
}

// AtMost returns the row with a note that says whether its value is at most limit.
func AtMost(r figure.Row, limit float64) figure.Row {
	verdict := "kept"
	if !(r.Measured <= limit) {
		verdict = "MISSED"
	}
	if r.Note != "" {
		r.Note += "; "
	}
	r.Note += fmt.Sprintf("limit %.4g: %s", limit, verdict)
	return r
}

// Work counts the finished work of an experiment. It is safe for concurrent use.
type Work struct {
	mu        sync.Mutex
	done, all float64
	tell      func(float64)
}

// Work returns a counter of an amount of work, in any unit. Begin must have been called.
func (c *Config) Work(all float64) *Work { return &Work{all: all, tell: c.Progress} }

// Step adds finished work and reports the progress.
func (w *Work) Step(by float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = min(w.all, w.done+by)
	w.tell(w.done / w.all)
}

// Each calls f for 0 ... n-1 on all cores and returns the results in this order, for any number of cores. Each
// successful call adds by units to w, which may be nil. If f returns an error, Each returns the first one and cancels
// the context of the other calls.
func Each[T any](
	ctx context.Context, w *Work, by float64, n int, f func(ctx context.Context, i int) (T, error),
) ([]T, error) {
	out := make([]T, n)
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() (err error) {
			if err := inner.Err(); err != nil {
				return err
			}
			if out[i], err = f(inner, i); err == nil && w != nil {
				w.Step(by)
			}
			return err
		})
	}
	return out, g.Wait()
}
