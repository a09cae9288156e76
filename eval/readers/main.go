// Command readers compares the readers of the file format with each other: the Go command, the JavaScript package in
// both forms, the header for C, and, if --readers names it, the Python package.
//
//	go run . --answers 10000000 --damaged 5000
//
// It builds random filters of all families (specs.go, build.go) and exact sets (exact.go), queries every reader for the
// same keys (trial.go) and compares all answers. Then it damages files (damage.go, forge.go): a file must be refused by
// all readers, or by none, and all must then give the same answers. All must refuse filters of package window
// (windows.go). A difference is a fault, and its file is kept.
//
// The readers in other languages are programs with a common protocol; see driver. The Go command is queried by its
// subcommands check, count and get.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/families"
)

const usageText = `readers compares the Go command, the JavaScript package and the C header on random and damaged files.

Usage: go run . [flags]          (in eval/readers; needs node, ../../js/dist and a C compiler)

  go run . --answers 10000000 --damaged 5000
  go run . --answers 100000 --readers plain,c --seed 7
  go run . --readers python --python ../../python/.venv/bin/python
  go run . --answers 0 --damaged 0 --large
  go run . --answers 1 --seed 7 --first 123      repeats filter 123 of seed 7

Exit codes: 0, 1 (a difference, or an error), 130 (ctrl-C).

Flags:
`

// options are the parsed flags.
type options struct {
	toAnswer  int
	toDamage  int
	exact     int // exact sets
	windows   int // filters of package window
	seed      uint64
	first     int // number of the first filter
	mostKeys  int
	perFilter int
	readers   []string
	families  []families.Family
	cc        string
	python    string
	keep      string
	large     bool
	json      bool
	quiet     bool
	start     time.Time
	shown     time.Time // time of the last line of progress
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second ctrl-C ends the program at once
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
	case ctx.Err() != nil:
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "readers:", err)
		os.Exit(1)
	}
}

// parse parses the flags.
func parse(args []string, stderr io.Writer) (options, error) {
	o := options{start: time.Now()}
	f := flag.NewFlagSet("readers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usageText); f.PrintDefaults() }
	f.IntVar(&o.toAnswer, "answers", 1_000_000, "keys that each reader answers")
	f.IntVar(&o.toDamage, "damaged", 1000, "damaged files")
	f.IntVar(&o.exact, "exact", 50, "exact sets; each is also damaged")
	f.IntVar(&o.windows, "windows", 50, "filters of package window, which all must refuse")
	f.Uint64Var(&o.seed, "seed", uint64(o.start.UnixNano()), "of the random filters; default: the time")
	f.IntVar(&o.first, "first", 0, "number of the first filter")
	f.IntVar(&o.mostKeys, "keys", 300_000, "largest number of keys of a filter")
	f.IntVar(&o.perFilter, "per-filter", 40_000, "most keys that are asked of one filter")
	f.BoolVar(&o.large, "large", false, "also filters of more than 2^32 bits; takes 6 GB of memory and minutes")
	list := f.String("readers", "plain,wasm,c", "which of plain, wasm, c and python")
	only := f.String("families", strings.Join(families.Names(), ","), "families of the filters")
	f.StringVar(&o.cc, "cc", "cc", "C compiler; damaged files need one with AddressSanitizer")
	f.StringVar(&o.python, "python", "python3", "Python interpreter that has the package")
	f.StringVar(&o.keep, "keep", "faults", "folder for files on which readers differ")
	f.BoolVar(&o.json, "json", false, "print the report as JSON")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.readers = strings.Split(*list, ",")
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.toAnswer < 0 || o.toDamage < 0 || o.exact < 0 || o.windows < 0:
		return o, errors.New("--answers, --damaged, --exact and --windows must be 0 or more")
	case o.mostKeys < 2 || o.perFilter < 2:
		return o, errors.New("--keys and --per-filter must be at least 2")
	}
	for _, name := range o.readers {
		if !slices.Contains([]string{"plain", "wasm", "c", "python"}, name) {
			return o, fmt.Errorf("--readers %s: want some of plain, wasm, c and python, with commas between them", *list)
		}
	}
	for name := range strings.SplitSeq(*only, ",") {
		family, err := families.ByName(name)
		if err != nil {
			return o, fmt.Errorf("--families: %w", err)
		}
		o.families = append(o.families, family)
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	r, err := try(ctx, o, stderr)
	if err != nil && !errors.Is(err, errFaults) {
		return fmt.Errorf("seed %d: %w", o.seed, err)
	}
	if !o.quiet {
		fmt.Fprint(stderr, "\r\x1b[K")
	}
	if o.json {
		err = errors.Join(err, cli.WriteJSON(stdout, r))
	} else {
		r.print(stdout)
	}
	if n := len(r.Faults); n > 0 {
		return errors.Join(err, fmt.Errorf("%d faults; files are in %s", n, o.keep))
	}
	return err
}

// try runs both parts of the trial.
func try(ctx context.Context, o options, log io.Writer) (r report, err error) {
	dir, err := os.MkdirTemp("", "readers-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t := &trial{options: o, dir: dir, report: newReport(o.seed), log: log}
	t.report.Readers = o.readers
	if t.command, err = newGoCommand(ctx, dir); err != nil {
		return t.report, err
	}
	sanitized := []string{"-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
	large := 0
	if o.large {
		large = len(largeSpecs)
	}
	for _, part := range []struct {
		n     int
		do    func(context.Context, int) error
		cArgs []string
	}{
		{o.toAnswer, t.answers, []string{"-O2"}},
		{large, t.large, []string{"-O2"}},
		{o.toDamage, t.damage, sanitized}, {o.exact, t.exactSets, sanitized},
		{o.windows, t.windows, sanitized},
	} {
		if part.n == 0 {
			continue
		}
		if t.readers, err = newDrivers(ctx, o, dir, part.cArgs); err == nil {
			err = part.do(ctx, part.n)
		}
		for _, d := range t.readers {
			if closed := d.close(); closed != nil && err == nil {
				err = fmt.Errorf("%s at its end: %w", d.name(), closed)
			}
		}
		if err != nil {
			return t.report, err
		}
	}
	return t.report, nil
}

// print prints the report for people.
func (r report) print(w io.Writer) {
	fmt.Fprintf(w, "seed %d, readers go,%s\n", r.Seed, strings.Join(r.Readers, ","))
	fmt.Fprintf(w, "%d filters, %d of them sharded sets; %d keys, %d of them present\n",
		r.Filters, r.Sharded, r.Keys, r.Present)
	if r.Exact > 0 {
		fmt.Fprintf(w, "%d exact sets\n", r.Exact)
	}
	if r.Windows > 0 {
		fmt.Fprintf(w, "%d filters of package window\n", r.Windows)
	}
	if r.Large > 0 {
		fmt.Fprintf(w, "%d further filters of more than 2^32 bits\n", r.Large)
	}
	for _, m := range []map[string]int{r.Families, r.Changes} {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(m)) {
			all = append(all, fmt.Sprint(name, " ", m[name]))
		}
		if len(m) > 0 {
			fmt.Fprintln(w, " ", strings.Join(all, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Answers)) {
		fmt.Fprintf(w, "%-6s %d answers as the command's\n", name, r.Answers[name])
	}
	fmt.Fprintf(w, "%d damaged files: %d refused by all, %d accepted by all with the same answers\n",
		r.Damaged, r.Refused, r.Accepted)
	for _, name := range slices.Sorted(maps.Keys(r.ByDamage)) {
		fmt.Fprintf(w, "  %-26s %d refused, %d accepted\n", name, r.ByDamage[name][0], r.ByDamage[name][1])
	}
	fmt.Fprintf(w, "%d faults\n", len(r.Faults))
	for _, f := range r.Faults {
		fmt.Fprintf(w, "  %s\n  kept as %s\n", f.What, filepath.ToSlash(f.File))
	}
}
