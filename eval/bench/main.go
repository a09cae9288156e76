// Command bench compares our filters with filters of other libraries. All filters contain the same keys and are
// measured alternately in one process. It prints the size, times, memory and false-positive rate of each filter and the
// ratios of our filters to the filters of other libraries, and writes them as JSON, as a Markdown page and as SVG
// plots. With --peers it compares our filters with filters in other languages, each side in its own process; see
// package versus.
//
//   - contenders.go defines a contender and the pairs that are compared; ours.go and peers.go list the contenders.
//   - measure.go and memory.go measure, result.go summarizes.
//   - table.go, page.go, plots.go and files.go write the output.
//   - across.go and acrosspage.go are the comparison with other languages.
//
// The tests cover comparisons that the program does not make: removing keys, files of other systems, and caches.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/eval/bench/versus"
)

const usageText = `bench compares our filters with other libraries: bits per key, times, memory, false-positive rates, ratios.

Usage: go run . [flags]                 (in the folder bench)

  go run . --keys 1M --fpr 1%           prints tables and writes ./results; takes 2 minutes
  go run . --keys 1M,20M --fpr 1%       prints the results; 20M keys take 15 minutes
  go run . --keys 1M --out ../../docs/measured
                                        writes the page
  go run . --keys 100k --quick --out "" checks that the program works; takes seconds
  go run . --keys 10M --only 'fuse|Fuse|map'
  go run . --keys 1M,10M --peers rust,java
                                        compares with filters of Rust and Java, which it builds if cargo and Maven
                                        are there; --fpr then takes several rates

The files of each number of keys are written when it is done. Each file is written completely or not at all.
Exit codes: 0, 1 (an error, or one of our filters lost a key), 130 (ctrl-C).

Flags:
`

// options are the parsed flags.
type options struct {
	keys   []int
	only   *regexp.Regexp
	effort string
	out    string
	json   bool
	// command is the command line, for the pages.
	command string
	// peers are the languages of --peers, rates their target rates, and compare the other settings of --peers.
	peers   []string
	rates   []float64
	compare versus.Config
	quick   bool
	settings
}

// serveCommand is the argument with which the program runs as our side of a comparison with other languages.
const serveCommand = "serve"

// defaultRates are the targets of --peers.
var defaultRates = []float64{0.01, 0.001}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second ctrl-C ends a build that ignores the context
	var err error
	if len(os.Args) == 2 && os.Args[1] == serveCommand {
		err = versus.Serve(ctx, os.Stdin, os.Stdout)
	} else {
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
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

// run measures as args request. Tables or JSON go to w, everything else to wErr. It returns an error if one of our
// filters loses a key.
func run(ctx context.Context, args []string, w, wErr io.Writer) error {
	o, err := parse(args, wErr)
	if err != nil {
		return err
	}
	if o.peers != nil {
		return o.across(ctx, w, wErr)
	}
	for _, n := range o.keys {
		r, err := o.measure(ctx, n, wErr)
		if err == nil {
			err = o.report(ctx, r, w, wErr)
		}
		if err == nil {
			err = r.lost()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// output is a result that is printed and written.
type output interface {
	writeText(w io.Writer)
	// fileName is the name of the files without extension. files maps the rest of each name to a function that writes
	// the file.
	fileName() string
	files() map[string]func(io.Writer) error
}

// report prints a result as tables or JSON, and writes its files.
func (o options) report(ctx context.Context, r output, w, wErr io.Writer) error {
	if o.json {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		if err := e.Encode(r); err != nil {
			return err
		}
	} else {
		r.writeText(w)
	}
	if o.out == "" {
		return nil
	}
	if err := writeFiles(context.WithoutCancel(ctx), o.out, r); err != nil {
		return err
	}
	fmt.Fprintf(wErr, "written to %s/%s.*\n", o.out, r.fileName())
	return nil
}

// parse reads the flags.
func parse(args []string, wErr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(wErr)
	keys := flags.String("keys", "1M", "numbers of keys, such as 100k or 1M,20M")
	fpr := flags.String("fpr", "", "target false-positive rate of filters that take one, such as 0.1% "+
		"(default 1%; with --peers 1%,0.1%)")
	peers := flags.String("peers", "", "compare with filters of these languages instead: rust, java or both, such as "+
		"rust,java")
	only := flags.String("only", "", "measure only filters whose name matches this regular expression")
	flags.BoolVar(&o.quick, "quick", false, "3 turns and 1 build with --effort fast: checks that the program works")
	flags.IntVar(&o.turns, "turns", 0, "turns of queries (default 15; 9 from 10M keys)")
	flags.IntVar(&o.builds, "builds", 0, "builds of each filter (default 7; 3 from 10M keys)")
	flags.DurationVar(&o.longest, "longest", 2*time.Minute,
		"limit for all builds of a filter; leave out filters of which one build takes 5 times as long")
	flags.StringVar(&o.effort, "effort", "", "effort of families that search: fast, default or max (default: default; fast above 20M keys)")
	flags.StringVar(&o.out, "out", "results", `folder for page and plots; "" writes none`)
	flags.BoolVar(&o.json, "json", false, "print all numbers as JSON instead of tables")
	memory := flags.String("memory", "", "memory limit, such as 16G (default: the available memory of the system)")
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
	if err := o.parseRates(*fpr, *peers != ""); err != nil {
		return o, err
	}
	if o.turns < 0 || o.builds < 0 {
		return o, errors.New("--turns and --builds: want at least 1")
	}
	if !slices.Contains([]string{"", "fast", "default", "max"}, o.effort) {
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
	// About (1.96/0.03)² = 4300 false positives give a 95% interval of ±3% of the rate. At least 1M keys, at most 20M.
	o.absent = int(min(20e6, max(1e6, math.Ceil(4300/slices.Min(o.rates)))))
	if o.quick {
		o.turns, o.builds, o.effort, o.absent = cmp.Or(o.turns, 3), cmp.Or(o.builds, 1), cmp.Or(o.effort, "fast"), 200_000
	}
	if *peers == "" {
		return o, nil
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Name == "effort" || f.Name == "longest" {
			err = errors.Join(err, fmt.Errorf("--%s does not go with --peers", f.Name))
		}
	})
	return o, cmp.Or(err, o.parsePeers(*peers))
}

// parseRates parses --fpr, which is one rate, or with --peers several.
func (o *options) parseRates(text string, several bool) error {
	switch {
	case text == "" && several:
		o.rates = defaultRates
	case text == "":
		o.rates = defaultRates[:1]
	default:
		for part := range strings.SplitSeq(text, ",") {
			rate, err := parseRate(part)
			if err != nil {
				return err
			}
			o.rates = append(o.rates, rate)
		}
	}
	if len(o.rates) > 1 && !several {
		return fmt.Errorf("--fpr %s: want one rate, or --peers", text)
	}
	o.rate = o.rates[0]
	return nil
}

// defaults returns the settings for n keys, with defaults for flags that are not set.
func (o options) defaults(n int) settings {
	s := o.settings
	turns, builds := 15, 7
	if n >= 10_000_000 {
		turns, builds = 9, 3
	}
	s.turns, s.builds = cmp.Or(s.turns, turns), cmp.Or(s.builds, builds)
	return s
}

// measure measures all contenders with n keys.
func (o options) measure(ctx context.Context, n int, wErr io.Writer) (Result, error) {
	s, effort := o.defaults(n), o.effort
	if effort == "" && n > 20_000_000 {
		effort = "fast"
	}
	of := func(keys int) []contender { return only(contenders(keys, s.rate, cmp.Or(effort, "default")), o.only) }
	all := of(n)
	if len(all) == 0 {
		return Result{}, fmt.Errorf("--only %q: matches no filter", o.only)
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
	return resultOf(rows, newRun(start, n, min(asked, n), s, o.command), s.rate), nil
}
