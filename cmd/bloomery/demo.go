package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/cmd/bloomery/domains"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/plan"
)

// demoFamilies are the filters of the short demo, one per line of its table. The first one answers the named questions.
var demoFamilies = []string{
	"ribbon(fpr=0.01)", "fuse(fpr=0.01)", "standard(fpr=0.01)", "blocked(fpr=0.01)", "rankindexed(fpr=0.01)",
}

// demoNext returns the command that the demo proposes, for the path of the running program. It runs in the root of a
// clone.
func demoNext(program string) string {
	command := "bloomery"
	if strings.Contains(filepath.ToSlash(program), "/go-build") { // the temporary folder of go run and go test
		command = "go run ./cmd/bloomery"
	}
	return command + " build -o out.bloom cmd/bloomery/domains/disposable.txt.gz"
}

// demoSpecs are the filters of the large table, one per line, with common sizes. They are independent of the list of
// families.
var demoSpecs = []string{
	"standard(fpr=0.01)",
	"standard(fpr=0.001)",
	"blocked(fpr=0.01)",
	"blocked(fpr=0.01,layout=split)",
	"ribbon(fpr=0.01)",
	"ribbon(r=8)",
	"ribbon(r=8,w=128)",
	"fuse(width=7)",
	"fuse(width=8)",
	"fuse(width=16)",
	"partitioned(fpr=0.01)",
	"partitioned(bits_per_key=8)",
	"blockpartitioned(fpr=0.01)",
	"blockpartitioned(bits_per_key=8)",
	"twochoice(bits_per_key=16)",
	"rankindexed(fpr=0.01)",
	"counting(fpr=0.01)",
}

const demoAbsent = 1_000_000

func (a *app) demoCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "See a filter at work on a real list, in a second",
		Long: `Filters of 133,604 domains of disposable mail addresses screen 9,631 ordinary mail domains. --all and
--json build 17 filters, and ask each for a million random names too.`,
		Example: "  bloomery demo\n  bloomery demo --all\n  bloomery demo --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if all || a.json {
				return a.demoAll(c.Context())
			}
			return a.demo(c.Context())
		},
	}
	c.Flags().BoolVar(&all, "all", false, "print a table of 17 filters, 100 columns wide")
	return c
}

// demo prints twelve lines of at most 80 columns: the sizes of a list and its filter, three answers, five families,
// and a command to try.
func (a *app) demo(ctx context.Context) error {
	listed, ordinary := domains.Disposable(), domains.Ordinary()
	results, err := a.demoResults(ctx, demoFamilies, listed, ordinary, nil)
	if err != nil {
		return err
	}

	w := a.stdout
	fmt.Fprintf(w, "%s domains of disposable mail: %s as a list, %s as a filter at 1%%\n",
		thousands(len(listed)), bytesText(listBytes(listed)), bytesText(results[0].bytes()))
	writeQuestions(w, results[0], len(ordinary))

	const row = "  %-11s  %6s  %8s  %14s  %9s  %s\n"
	fmt.Fprintf(w, row, "family", "size", "promised", "false of "+thousands(len(ordinary)), "per query", "keys are")
	for _, r := range results {
		info, flagged := r.set.Info(), len(r.flagged)
		fmt.Fprintf(w, row, info.Spec.Family(), bytesText(r.bytes()), fmt.Sprintf("%.2f%%", 100*info.FPRPosterior),
			fmt.Sprintf("%d = %.2f%%", flagged, 100*float64(flagged)/float64(len(ordinary))),
			fmt.Sprintf("%.0f ns", (r.nsPresent+r.nsAbsent)/2), changesOf(info.Spec))
	}
	_, err = fmt.Fprintf(w, "now try, in a clone of github.com/bloomery/bloomery:\n%s\n", demoNext(os.Args[0]))
	return err
}

// writeQuestions writes the answers of a filter to three named questions: a yes, a no, and a false positive, if one of
// the ordinary domains is one.
func writeQuestions(w io.Writer, r demoResult, ordinary int) {
	ask := func(key, remark string) {
		answer := "no"
		if r.set.ContainsString(key) {
			answer = "yes"
		}
		fmt.Fprintf(w, "  %-11s  %-3s  %s\n", key, answer, remark)
	}

	ask("yopmail.com", "it is in the list: a key of the list is always found")
	ask("gmail.com", "it is not in the list: a no is never wrong")
	if len(r.flagged) > 0 {
		// The shortest name is more likely to be known than the first one.
		name := slices.MinFunc(r.flagged, func(a, b string) int { return len(a) - len(b) })
		ask(name, fmt.Sprintf("a false positive, like %d of %s ordinary domains", len(r.flagged), thousands(ordinary)))
	}
}

// changesOf returns what can happen to the keys of a filter after the build.
func changesOf(spec filter.Spec) string {
	of, err := families.ByName(spec.Family())
	switch {
	case err != nil || !of.Can.Has(family.CanAdd):
		return "fixed"
	case !of.Can.Has(family.CanRemove):
		return "added"
	}
	return "added, removed"
}

// demoAll prints a table of 17 filters, at most 100 columns wide, or with --json more figures of each.
func (a *app) demoAll(ctx context.Context) error {
	listed, ordinary := domains.Disposable(), domains.Ordinary()
	var absent []string
	for key := range bulk.RandomKeys(1) {
		if absent = append(absent, string(key)); len(absent) == demoAbsent {
			break
		}
	}

	results, err := a.demoResults(ctx, demoSpecs, listed, ordinary, absent)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{
			"keys": len(listed), "plain_bytes": listBytes(listed), "ordinary": len(ordinary), "absent": len(absent),
			"rows": results,
		})
	}

	fmt.Fprintf(a.stdout, "%s domains of disposable mail: %s as a list. Each filter finds all of them. It is\n"+
		"also asked for %s ordinary domains and for a million random names. Times are in ns per key.\n\n",
		thousands(len(listed)), bytesText(listBytes(listed)), thousands(len(ordinary)))
	const heads = "%-32s  %5s  %5s  %8s  %8s  %8s  %5s  %7s  %6s\n"
	fmt.Fprintf(a.stdout, heads, "", "", "bits", "promised", "observed", "ordinary", "", "present", "absent")
	fmt.Fprintf(a.stdout, heads, "filter", "size", "/ key", "rate", "rate", "flagged", "build", "query", "query")
	for _, r := range results {
		fmt.Fprintf(a.stdout, "%-32s  %5s  %5.2f  %7.4f%%  %7.4f%%  %8d  %5.0f  %7.0f  %6.0f\n", r.spec,
			bytesText(r.bytes()), r.set.Info().BitsPerKey(), 100*r.prior, 100*r.observed, len(r.flagged),
			r.nsBuild, r.nsPresent, r.nsAbsent)
	}
	return nil
}

// demoResult is a filter of the demo, and what it answered. Times are in nanoseconds per key.
type demoResult struct {
	spec     string
	set      *bloomery.Set
	prior    float64  // false-positive rate, forecast before the build
	observed float64  // share of the absent keys that are false positives
	flagged  []string // ordinary keys that are false positives
	missing  int      // listed keys that are not found

	nsBuild, nsPresent, nsAbsent float64
}

// bytes returns the size of the filter without the header of a file.
func (r demoResult) bytes() uint64 { return (r.set.Info().Bits + 7) / 8 }

func (r demoResult) MarshalJSON() ([]byte, error) {
	info := r.set.Info()
	return object{
		{"spec", r.spec}, {"bytes", r.bytes()}, {"bits_per_key", info.BitsPerKey()}, {"fpr_prior", r.prior},
		{"fpr_posterior", info.FPRPosterior}, {"fpr_observed", r.observed}, {"ordinary_flagged", len(r.flagged)},
		{"false_negatives", r.missing}, {"ns_build", r.nsBuild}, {"ns_present", r.nsPresent}, {"ns_absent", r.nsAbsent},
	}.MarshalJSON()
}

// demoResults returns the results of all specs, and draws a progress bar meanwhile. Without absent keys, the ordinary
// ones are the absent keys.
func (a *app) demoResults(ctx context.Context, specs, listed, ordinary, absent []string) ([]demoResult, error) {
	bar := a.later("building and asking")
	defer bar.End()
	var results []demoResult
	for i, spec := range specs {
		bar.count(i, len(specs))
		r, err := demoRun(ctx, spec, listed, ordinary, absent)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// demoRun builds a filter and asks it for all keys.
func demoRun(ctx context.Context, spec string, listed, ordinary, absent []string) (demoResult, error) {
	parsed, err := filter.ParseSpec(spec)
	if err != nil {
		return demoResult{}, err
	}

	n := uint64(len(listed))
	r := demoResult{spec: spec, prior: plan.Forecast(parsed, n).FPRPrior}
	start := time.Now()
	if r.set, err = bloomery.Build(ctx, slices.Values(listed), bloomery.Config{Spec: spec, Keys: n}); err != nil {
		return r, err
	}

	r.nsBuild = float64(time.Since(start).Nanoseconds()) / float64(n)
	if err := ctx.Err(); err != nil {
		return r, err
	}

	found, ns := askAll(r.set, listed)
	r.missing, r.nsPresent = len(listed)-len(found), ns
	if r.flagged, r.nsAbsent = askAll(r.set, ordinary); absent != nil {
		found, r.nsAbsent = askAll(r.set, absent)
		r.observed = float64(len(found)) / float64(len(absent))
	}
	if r.missing > 0 { // both texts promise that this cannot happen
		return r, fmt.Errorf("%s: %d keys of the list are missing", spec, r.missing)
	}
	return r, nil
}

// askAll returns the keys that are present, and the nanoseconds per query: the least over blocks of 1,000 keys in three
// passes, since other programs disturb longer measurements.
func askAll(set *bloomery.Set, keys []string) (present []string, ns float64) {
	present = make([]string, 0, len(keys)) // allocated before the clock runs
	ns = math.Inf(1)
	for range 3 {
		present = present[:0]
		for block := range slices.Chunk(keys, 1000) {
			start := time.Now()
			for _, k := range block {
				if set.ContainsString(k) {
					present = append(present, k)
				}
			}
			ns = min(ns, float64(time.Since(start).Nanoseconds())/float64(len(block)))
		}
	}
	return present, ns
}

// listBytes returns the size of a list with one key per line.
func listBytes(keys []string) uint64 { return uint64(len(strings.Join(keys, "\n")) + 1) }

// thousands formats a number with commas.
func thousands[N int | uint64](n N) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
