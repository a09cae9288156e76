// Package lab measures what the documents and our own pages claim, one file an experiment, and draws it. An experiment
// gives rows of numbers with their intervals, and plots.
package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// Experiment is one table or figure.
type Experiment struct {
	Name   string                                        `json:"name"`
	Source string                                        `json:"source"` // document and table or figure, or the page of ours that shows it
	Varies string                                        `json:"varies"`
	Run    func(context.Context, Config) (Result, error) `json:"-"` // gives no Name and Source
}

// Experiments lists all there are, in the order in which they are shown. A new one joins here.
func Experiments() []Experiment { return []Experiment{phAnneal, phTime, phLate} }

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

// Do runs the experiment.
func (e Experiment) Do(ctx context.Context, c Config) (Result, error) {
	r, err := e.Run(ctx, c)
	r.Name, r.Source = e.Name, e.Source
	return r, err
}

// Config says how to run. Fields that are 0 have the default that stands with them.
type Config struct {
	Trials int    // sets of keys; default: what the experiment says
	Seed   uint64 // default: 1
	Quick  bool   // fewer keys and trials: to see that it works
	// Progress, if not nil, is called with the share that is done.
	Progress func(done float64)
}

// Row is one number of a table.
type Row struct {
	Label     string  `json:"label"`
	Published float64 `json:"published,omitempty"` // 0 if nobody did
	Measured  float64 `json:"measured"`
	Low       float64 `json:"low"` // the 95% interval of the mean
	High      float64 `json:"high"`
	Note      string  `json:"note,omitempty"`
}

// Result is what an experiment found.
type Result struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Seed   uint64 `json:"seed"`
	Trials int    `json:"trials"`
	Rows   []Row  `json:"rows"`
	Plots  []Plot `json:"plots"`
}

// Plot is a picture: curves over common axes.
type Plot struct {
	Name   string  `json:"name"` // of the file, without extension
	Title  string  `json:"title"`
	X      string  `json:"x"`
	Y      string  `json:"y"`
	LogX   bool    `json:"log_x,omitempty"`
	LogY   bool    `json:"log_y,omitempty"`
	Curves []Curve `json:"curves"`

	LegendLeft bool `json:"-"` // where the upper right is not free
}

// Curve is one line of a plot, or points if Dots is set; with Level it is a horizontal line at the y of its only point.
type Curve struct {
	Name   string       `json:"name"`
	Points [][2]float64 `json:"points"`
	Dots   bool         `json:"dots,omitempty"`
	Level  bool         `json:"level,omitempty"`
}

// begin fills in the defaults and starts the result.
func (c *Config) begin(trials int) Result {
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
	return Result{Seed: c.Seed, Trials: c.Trials}
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
