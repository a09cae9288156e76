// Package lab measures what the documents and our own pages claim, one file an experiment, and draws it. An experiment
// gives rows of numbers with their intervals, and plots.
package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/figure"
)

// Experiment is one table or figure.
type Experiment struct {
	Name   string `json:"name"`
	Source string `json:"source"` // document and table or figure, or the page of ours that shows it
	Varies string `json:"varies"`
	// Seconds is about how long a full run takes on two cores: for those who choose, and for the time left of a report.
	Seconds int                                                  `json:"seconds"`
	Run     func(context.Context, Config) (figure.Result, error) `json:"-"` // gives no Name and Source
}

// Experiments lists all there are, in the order in which they are shown. A new one joins here.
func Experiments() []Experiment {
	return []Experiment{
		phFig1, phFig2, phFig3, phFig5, phFig6, phFig7, phFig10, phFig11, phTable1, phFig12, phFig13, phFig14,
		phAnneal, phTime, phLate,
		ptcTable1, ptcTable2, ptcTable3,
		rihTable1, rihTable2, rihTable3, rihTable4, rihTable5, rihFig5, rihFig6,
		plankFindk, plankFindinck, plankTester, plank16bit, sahaSpam, sahaUniversal, onehit, hashesTable, planNeeds,
	}
}

// ByName returns an experiment, or an error that lists those there are.
func ByName(name string) (Experiment, error) {
	var names []string
	for _, e := range Experiments() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, fmt.Errorf("there is no experiment %q; there are %s", name, strings.Join(names, ", "))
}

// Match returns the experiments that patterns such as ph-* name (path.Match), each once: pattern after pattern, those of
// one pattern in the order of Experiments. What names nothing is an error that lists those there are.
func Match(patterns ...string) (found []Experiment, err error) {
	taken := map[string]bool{}
	for _, p := range patterns {
		some := false
		for _, e := range Experiments() {
			switch ok, err := path.Match(p, e.Name); {
			case err != nil:
				return nil, fmt.Errorf("%q: %w", p, err)
			case !ok:
				continue
			}
			if some = true; !taken[e.Name] {
				taken[e.Name] = true
				found = append(found, e)
			}
		}
		if !some {
			_, err := ByName(p)
			return nil, err
		}
	}
	return found, nil
}

// Do runs the experiment. The points of its curves are all finite.
func (e Experiment) Do(ctx context.Context, c Config) (figure.Result, error) {
	r, err := e.Run(ctx, c)
	r.Name, r.Source = e.Name, e.Source
	r.DropNonFinite()
	return r, err
}

// Config says how to run. Fields that are 0 have the default that stands with them.
type Config struct {
	Trials int    // sets of keys; default: what the experiment says
	Seed   uint64 // default: 1
	Quick  bool   // fewer keys and trials: to see that it works
	// Trace is a file of requests, one key a line, for experiments that replay them; by default they have made-up requests only.
	// Packets is a pcap or pcapng file, for those that take payloads as keys; by default, the capture that comes with the lab.
	Trace, Packets string
	// Progress, if not nil, is called with the share that is done, by one goroutine at a time.
	Progress func(done float64)
}

// begin fills in the defaults and starts the result.
func (c *Config) begin(trials int) figure.Result {
	if c.Trials == 0 {
		c.Trials = trials
		if c.Quick {
			c.Trials = 2
		}
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Progress == nil {
		c.Progress = func(float64) {}
	}
	return figure.Result{Seed: c.Seed, Trials: c.Trials}
}

// work counts what is done of an experiment, from any number of goroutines.
type work struct {
	mu        sync.Mutex
	done, all float64
	tell      func(float64)
}

// work starts to count an experiment that has so much to do, in any unit.
func (c *Config) work(all float64) *work { return &work{all: all, tell: c.Progress} }

// step says that so much more is done.
func (w *work) step(by float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = min(w.all, w.done+by)
	w.tell(w.done / w.all)
}

// each calls f for 0 ... n-1 on all cores and returns what it gave, in that order: the same whatever the cores. It counts
// by steps of work for each; w may be nil. f should look at its context where it takes long.
func each[T any](ctx context.Context, w *work, by float64, n int, f func(ctx context.Context, i int) (T, error)) ([]T, error) {
	out := make([]T, n)
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() (err error) {
			if err := inner.Err(); err != nil {
				return err
			}
			if out[i], err = f(inner, i); err == nil && w != nil {
				w.step(by)
			}
			return err
		})
	}
	return out, g.Wait()
}

// hashes returns n random hashes of distinct keys; trials have different ones.
func (c *Config) hashes(n, trial int) []filter.Hash {
	r := rand.New(rand.NewPCG(c.Seed, uint64(trial)))
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	return hs
}

// build makes a filter of a builder and its keys.
func build[B filter.Builder](ctx context.Context, b B, err error, hs []filter.Hash) (filter.Filter, error) {
	if err != nil {
		return nil, err
	}
	if err := b.AddMany(hs); err != nil {
		return nil, err
	}
	return b.Build(ctx)
}
