package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/filter"
)

// rateFlags are the flags of commands that raise the false-positive rate of a filter.
type rateFlags struct {
	most string
}

func (f *rateFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.most, "max-fpr", "",
		"write nothing if the false-positive rate would be more than a tenth above this `rate`: exit code 2")
}

// read returns the highest allowed rate, 0 without a limit.
func (f *rateFlags) read(c *cobra.Command) (float64, error) {
	if !c.Flags().Changed("max-fpr") {
		return 0, nil
	}
	return parseRate("--max-fpr", f.most)
}

// rateText describes the false-positive rate of a filter that was just built.
func rateText(i filter.Info) string {
	if i.ValuesOnly() {
		return "values without fingerprints: every key seems to be present"
	}
	return fmt.Sprintf("false positive rate %.4g", i.FPRPosterior)
}

// warnRate prints a warning if the false-positive rate of a file has left the chosen one, or is useless.
func (a *app) warnRate(path string, i filter.Info) {
	if !i.Exceeded() {
		return
	}
	problem, why := filter.RateError{FPR: i.FPRPosterior, Most: i.FPRChosen, Keys: i.Keys}, ", the chosen rate"
	if i.FPRChosen == 0 {
		problem.Most, why = filter.UselessFPR, ": the filter is useless"
	}
	fmt.Fprintf(a.stderr, "bloomery: warning: %s: %v%s\n  %s\n", path, &problem, why, adviceRoom)
}

// Hints for filters that have too high a rate.
const (
	adviceRoom    = "Build a new one from all of its keys, with room: --fpr, --capacity, or later= in a spec."
	adviceMaxRate = `Nothing was written. Build the filter from all of its keys with a larger size: --fpr or --capacity,
  or more --bits-per-key or --bytes; or raise --max-fpr.`
	adviceChanged = `Nothing was written. Run the command again when the input no longer changes, or pipe it: a pipe is
  read once: cat INPUT | bloomery build -o FILE`
)
