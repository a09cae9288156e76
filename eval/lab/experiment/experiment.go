// Package experiment has what the experiments of the lab share: how they are described and configured, how they use all
// cores and report progress, and how they fill filters with random keys.
package experiment

import (
	"context"

	"github.com/bloomery/bloomery/eval/lab/figure"
)

// The documents of experiments in more than one room.
const (
	PlankNotes = "Plank's lecture notes (2016)"
	SahaSlides = "Saha's slides"
)

// Experiment is one table or figure.
type Experiment struct {
	Name   string `json:"name"`
	Source string `json:"source"` // document and table or figure, or the page of ours that shows it
	Varies string `json:"varies"`
	// Seconds is the approximate time of a full run on two cores. Reports estimate the time left from it.
	Seconds int `json:"seconds"`
	// Run runs the experiment. It leaves Name and Source of the result to Do.
	Run func(context.Context, Config) (figure.Result, error) `json:"-"`
}

// Do runs the experiment. All points of the curves of its result are finite.
func (e Experiment) Do(ctx context.Context, c Config) (figure.Result, error) {
	r, err := e.Run(ctx, c)
	r.Name, r.Source = e.Name, e.Source
	r.DropNonFinite()
	return r, err
}

// Config is the parameters of a run. Zero fields take the default noted beside them.
type Config struct {
	Trials int    // sets of keys; 0: the default of the experiment
	Seed   uint64 // 0: 1
	Quick  bool   // fewer keys and trials, to see that everything works
	Full   bool   // larger sets of keys, in experiments that leave them out to save minutes; ignored with Quick
	// Trace is a file of requests, one key a line, for experiments that replay requests. Empty: made-up requests only.
	Trace string
	// Packets is a pcap or pcapng file for experiments that take payloads as keys. Empty: the capture in the lab.
	Packets string
	// Progress, if not nil, is called with the share done, in [0, 1], by one goroutine at a time.
	Progress func(done float64)
}

// Begin fills in the defaults and returns an empty result. trials is the experiment's default number of trials.
func (c *Config) Begin(trials int) figure.Result {
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
