package main

import (
	"fmt"
	"io"

	"github.com/bloomery/bloomery/internal/cli"
)

// The values of result.Status.
const (
	equal     = "equal"
	different = "different"
	notRun    = "not run"
	failed    = "failed" // the trial could not continue
)

// result is the report about a system.
type result struct {
	System  string    `json:"system"`
	Status  string    `json:"status"`
	Why     string    `json:"why,omitempty"` // reason if it was not run or failed
	Version string    `json:"version,omitempty"`
	Cases   int       `json:"cases"`
	Theirs  direction `json:"theirs"` // filters that the system made
	Ours    direction `json:"ours"`   // filters that we made
	Seconds float64   `json:"seconds"`
	Faults  []string  `json:"faults,omitempty"` // the first differences
}

// direction is the report about filters of one side.
type direction struct {
	Filters        int `json:"filters"`
	Answers        int `json:"answers"`        // compared
	FalsePositives int `json:"falsePositives"` // yes answers of both sides for other keys
	EqualFiles     int `json:"equalFiles"`     // filters that were written again with the same bytes
	Differences    int `json:"differences"`
}

// Differences returns the differences in both directions.
func (r *result) Differences() int { return r.Theirs.Differences + r.Ours.Differences }

// mostFaults is the number of differences that a report describes.
const mostFaults = 20

// fault counts a difference, and describes it.
func (t *trial) fault(d *direction, format string, args ...any) {
	d.Differences++
	if len(t.result.Faults) < mostFaults {
		t.result.Faults = append(t.result.Faults, fmt.Sprintf(format, args...))
	}
}

// report prints the results.
func report(w io.Writer, all []result, asJSON bool) error {
	if asJSON {
		return cli.WriteJSON(w, all)
	}
	for _, r := range all {
		fmt.Fprintf(w, "%s: %s\n", r.System, r.summary())
		for _, d := range []struct {
			name string
			direction
		}{{"made by the system", r.Theirs}, {"made by us", r.Ours}} {
			if d.Filters > 0 || d.Differences > 0 {
				fmt.Fprintf(w, "  %-18s %d filters, %d answers, %d false positives, %d equal files, %d differences\n",
					d.name, d.Filters, d.Answers, d.FalsePositives, d.EqualFiles, d.Differences)
			}
		}
		for _, f := range r.Faults {
			fmt.Fprintf(w, "  %s\n", f)
		}
	}
	return nil
}

// summary returns the line about a result.
func (r *result) summary() string {
	switch r.Status {
	case notRun:
		return "NOT RUN: " + r.Why
	case failed:
		return fmt.Sprintf("FAILED after %d cases: %s", r.Cases, r.Why)
	}
	return fmt.Sprintf("%s: %d cases, %d answers, %d differences, %.0f s", r.Version, r.Cases,
		r.Theirs.Answers+r.Ours.Answers, r.Differences(), r.Seconds)
}
