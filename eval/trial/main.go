// Command trial compares package interop with the systems whose filter files it reads and writes.
//
//	go run ./trial --system guava       in the folder eval
//	go run ./trial --system all --json
//
// It installs a system by Maven, pip or cargo, and exchanges files with it in both directions for a grid of cases
// (compare.go): numbers of keys, rates, kinds of keys and forms of the filter. Both sides query each filter for its
// keys and for the same number of other keys, and all answers are compared (exchange.go). A system for which the
// machine lacks a tool is skipped, and the report says why.
//
// The program of a system is in the folder of its name, or of its language. It is a child process with the protocol of
// program.go. peers.go lists the systems; each has a file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/eval/child"
	"github.com/bloomery/bloomery/internal/cli"
)

func main() { cli.Main(run) }

// options are the flags.
type options struct {
	system  string
	maxKeys int
	seed    uint64
	cache   string
	list    bool
	json    bool
	quiet   bool
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	return command(ctx, args, stdout, stderr, systems())
}

// command is run with a list of systems.
func command(ctx context.Context, args []string, stdout, stderr io.Writer, all []system) int {
	out := &cli.Checked{Writer: stdout}
	var o options
	root := &cobra.Command{
		Use:   "trial --system NAME",
		Short: "Compare filter files with the systems that they are for",
		Long: `Fetches another system by Maven, pip or cargo, exchanges filter files with it in both directions, and compares
the answers of both sides.

Exit codes: 0, also if a system is not run; 1 if an answer or a file differs; 2 after an error; 130 after ctrl-C.`,
		Example: "  trial --list\n  trial --system guava\n  trial --system all --keys 100000 --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if o.list {
				for _, s := range all {
					fmt.Fprintf(out, "%-14s %s\n", s.name, s.about)
				}
				return nil
			}
			return o.run(ctx, out, stderr, all)
		},
	}
	flags := root.Flags()
	flags.StringVar(&o.system, "system", "", "which system, or all: see --list")
	flags.IntVar(&o.maxKeys, "keys", 1_000_000, "most keys of a filter")
	flags.Uint64Var(&o.seed, "seed", 1, "of the keys")
	flags.StringVar(&o.cache, "cache", "",
		"folder for the programs of the systems; default: bloomery-trial in the cache of the user")
	flags.BoolVar(&o.list, "list", false, "list the systems and what they need")
	flags.BoolVar(&o.json, "json", false, "report as JSON")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress and no notes")
	return cli.Program{Root: root, JSON: &o.json, Stdout: out, Stderr: stderr}.Run(ctx, args)
}

// run tries the chosen systems and prints the report. The error is cli.ErrNo if anything differs.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer, all []system) (err error) {
	chosen, err := choose(all, o.system)
	if err != nil {
		return err
	}
	if o.maxKeys < 1 || o.maxKeys > 100_000_000 {
		return errors.New("--keys must be between 1 and 100000000")
	}
	if o.cache == "" {
		if o.cache, err = os.UserCacheDir(); err != nil {
			return fmt.Errorf("%w; name a folder with --cache", err)
		}
		o.cache = filepath.Join(o.cache, "bloomery-trial")
	}
	notes := stderr
	if o.quiet {
		notes = io.Discard
	}
	var results []result
	for _, s := range chosen {
		r, err := o.try(ctx, s, notes)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r.Status, r.Why = failed, err.Error()
		}
		results = append(results, r)
	}
	if err := report(stdout, results, o.json); err != nil {
		return err
	}
	switch has := func(status string) bool {
		return slices.ContainsFunc(results, func(r result) bool { return r.Status == status })
	}; {
	case has(different):
		return cli.ErrNo
	case has(failed):
		return errors.New("not all systems could be compared")
	}
	return nil
}

// choose returns the systems that a name stands for.
func choose(all []system, name string) ([]system, error) {
	if name == "all" {
		return all, nil
	}
	names := []string{}
	for _, s := range all {
		if s.name == name {
			return []system{s}, nil
		}
		names = append(names, s.name)
	}
	return nil, fmt.Errorf("--system %q: want all, %s", name, strings.Join(names, ", "))
}

// try tries one system in a temporary folder. If the machine lacks something, the status of the result is notRun.
func (o *options) try(ctx context.Context, s system, notes io.Writer) (r result, err error) {
	dir, err := os.MkdirTemp("", "trial-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t := &trial{
		ctx: ctx, dir: dir, seed: o.seed, maxKeys: o.maxKeys, notes: notes,
		shop: shop{ctx: ctx, cache: o.cache, notes: notes}, result: result{System: s.name, Status: equal},
	}
	start := time.Now()
	err = s.run(t)
	t.result.Seconds = time.Since(start).Seconds()
	var lack child.LackError
	if errors.As(err, &lack) {
		t.result.Status, t.result.Why, err = notRun, lack.Error(), nil
		fmt.Fprintf(notes, "NOT RUN: %s: %s\n", s.name, t.result.Why)
	}
	if err == nil && t.result.Differences() > 0 {
		t.result.Status = different
	}
	return t.result, err
}
