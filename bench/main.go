// Command bench sets our filters beside those of other libraries: the same keys, one process, in turns. It prints bits, times,
// memory and rates of each, and the ratios of ours to the peers', and writes them as JSON, as a page and as pictures.
//
// contenders.go says what a contender is and which pairs are compared, ours.go and peers.go have one place for each, measure.go
// and memory.go measure, result.go sums up, table.go, page.go, plots.go and files.go show it. The tests beside it compare what
// the program does not: keys that are removed, other systems' files, caches.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

const usageText = `bench sets our filters beside other libraries': bits a key, times, memory, false positives, ratios.

Usage: go run . [flags]                 (in the folder bench)

  go run . --keys 1M --fpr 1%           two minutes; the table, and files in ./results
  go run . --keys 1M,20M --fpr 1% --out ../docs/results
                                        what docs/results shows; 20M take a quarter of an hour
  go run . --keys 100k --quick --out "" seconds: does it work?
  go run . --keys 10M --only 'fuse|Fuse|map'

Files are written when a number of keys is done, each whole or not at all. Exit codes: 0, 1 (an error; a filter of ours
lost a key), 130 (ctrl-C).

Flags:
`

// options are what the flags say.
type options struct {
	keys   []int
	only   *regexp.Regexp
	effort string
	out    string
	// command is what was typed, for the pages.
	command string
	settings
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second ctrl-C ends a build that does not listen
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "bench: interrupted, nothing written")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures what the arguments ask for. Tables go to w, all else to wErr. It returns an error if a filter of ours loses a key.
func run(ctx context.Context, args []string, w, wErr io.Writer) error {
	o, err := parse(args, wErr)
	if err != nil {
		return err
	}
	for _, n := range o.keys {
		r, err := o.measure(ctx, n, wErr)
		if err != nil {
			return err
		}
		r.writeText(w)
		if o.out != "" {
			if err := r.writeFiles(o.out); err != nil {
				return err
			}
			fmt.Fprintf(wErr, "%s keys: written to %s/%s.md, .json and .svg\n", countText(n), o.out, r.fileName())
		}
		if err := r.lost(); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the flags.
func parse(args []string, wErr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(wErr)
	keys := flags.String("keys", "1M", "numbers of keys, such as 100k or 1M,20M")
	fpr := flags.String("fpr", "1%", "false positive rate to ask for, where a library takes one, such as 0.1%")
	only := flags.String("only", "", "measure only contenders whose name this regular expression matches")
	quick := flags.Bool("quick", false, "3 turns and one build, with fast searches: to see that it works")
	flags.IntVar(&o.turns, "turns", 0, "turns of questions (default 15, from 10M keys on 9)")
	flags.IntVar(&o.builds, "builds", 0, "builds of each filter (default 7, from 10M keys on 3)")
	flags.DurationVar(&o.longest, "longest", 2*time.Minute, "build a filter no further time if all its builds would then take longer, and not at all if one takes five times that")
	flags.StringVar(&o.effort, "effort", "", "effort of families that search: fast, default or max (default: default, above 20M keys fast)")
	flags.StringVar(&o.out, "out", "results", `folder for JSON, page and pictures; "" writes none`)
	memory := flags.String("memory", "", "memory to stay within, such as 16G (default: what the system says is available)")
	flags.Usage = func() {
		fmt.Fprint(wErr, usageText)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected %q; bench -h lists the flags", flags.Arg(0))
	}
	for part := range strings.SplitSeq(*keys, ",") {
		n, err := parseCount(part)
		if err != nil {
			return o, err
		}
		o.keys = append(o.keys, n)
	}
	o.only, err = regexp.Compile(*only)
	if err != nil {
		return o, fmt.Errorf("--only: %w", err)
	}
	if o.rate, err = parseRate(*fpr); err != nil {
		return o, err
	}
	if o.turns < 0 || o.builds < 0 {
		return o, errors.New("--turns and --builds: want 1 or more")
	}
	switch o.effort {
	case "", "fast", "default", "max":
	default:
		return o, fmt.Errorf("--effort %q: want fast, default or max", o.effort)
	}
	o.memory = availableMemory()
	if *memory != "" {
		n, ok := parseWhole(*memory)
		if !ok || n == 0 {
			return o, fmt.Errorf("--memory %q: want bytes, such as 512M or 16G", *memory)
		}
		o.memory = n
	}
	o.command = "go run ."
	for _, a := range args {
		if strings.ContainsAny(a, " |*?$()[]{}&;<>~'\"\\") || a == "" {
			a = "'" + a + "'"
		}
		o.command += " " + a
	}
	o.seed = 1
	// 3% of the rate, twice the standard error of (1.96/0.03)² false positives; a million at least, 20 million at most.
	o.absent = int(min(20e6, max(1e6, math.Ceil(4300/o.rate))))
	if *quick {
		o.turns, o.builds, o.effort, o.absent = cmp.Or(o.turns, 3), cmp.Or(o.builds, 1), cmp.Or(o.effort, "fast"), 200_000
	}
	return o, nil
}

// measure measures all contenders at one number of keys, with the defaults for that many.
func (o options) measure(ctx context.Context, n int, wErr io.Writer) (Result, error) {
	s, effort := o.settings, o.effort
	turns, builds := 15, 7
	if n >= 10_000_000 {
		turns, builds = 9, 3
	}
	s.turns, s.builds = cmp.Or(s.turns, turns), cmp.Or(s.builds, builds)
	if effort == "" && n > 20_000_000 {
		effort = "fast"
	}
	of := func(keys int) []contender { return only(contenders(keys, s.rate, cmp.Or(effort, "default")), o.only) }
	all := of(n)
	if len(all) == 0 {
		return Result{}, fmt.Errorf("--only %q: no contender has such a name", o.only)
	}
	p := newProgress(wErr, countText(n))
	start := time.Now()
	rows, err := measure(ctx, all, of(min(n, pilotKeys)), n, s, p)
	p.done()
	if err != nil {
		return Result{}, err
	}
	if len(remaining(rows)) == 0 {
		return Result{}, fmt.Errorf("%s: %s", rows[0].name, rows[0].leftOut)
	}
	r := resultOf(rows, n, s)
	r.Seconds, r.Command = time.Since(start).Seconds(), o.command
	return r, nil
}
