package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/lab"
	"github.com/bloomery/bloomery/lab/figure"
)

func (a *app) reportCommand() *cobra.Command {
	var flags runFlags
	var out string
	c := &cobra.Command{
		Use:   "report --out DIR [NAME...]",
		Short: "Run all experiments and write one page of what they found",
		Long: `Run all experiments, or those that the names and patterns choose, and write the page DIR/index.html
with their tables and plots, which needs no other file, beside the files that "run --out" writes. The page is written
anew after every experiment and says what is missing, so that you may look at it early, and keep it if you
interrupt.

Rows that disagree with what was published are shown like the others and do not change the exit code. An experiment
that fails is named on the page, the others go on, and the exit code is 2. Files that other reports left in DIR stay.`,
		Example: `  bloomery-lab report --quick --out report
  bloomery-lab report --out report "ph-*" --trials 10`,
		ValidArgsFunction: completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"*"}
			}
			todo, err := lab.Match(args...)
			if err != nil {
				return err
			}
			config, err := flags.read(c)
			if err != nil {
				return err
			}
			if out == "" {
				return errors.New("name the folder for the page: --out DIR")
			}
			if err := cli.MakeFolder(out); err != nil {
				return err
			}
			return a.report(c.Context(), todo, config, out)
		},
	}
	flags.register(c)
	c.Flags().StringVar(&out, "out", "", "folder to write the page and the results to")
	_ = c.MarkFlagDirname("out")
	return c
}

// report runs the experiments and keeps the page up to date.
func (a *app) report(ctx context.Context, todo []lab.Experiment, config lab.Config, out string) error {
	r := figure.Report{
		Started: time.Now(), Version: cli.Version(), Machine: machine(),
		Quick: config.Quick, Trials: config.Trials, Seed: config.Seed,
	}
	all := int64(0)
	for _, e := range todo {
		r.Entries = append(r.Entries, figure.Entry{Name: e.Name, Source: e.Source, Varies: e.Varies})
		all += weight(e)
	}
	page := filepath.Join(out, "index.html")
	if err := writeResultFile(page, r.WriteHTML); err != nil { // fails before the work if it cannot be written
		return err
	}
	var failed []error
	done := int64(0)
	for i, experiment := range todo {
		e := &r.Entries[i]
		p := cli.NewProgress()
		p.Start = r.Started
		config.Progress = p.Share(done, weight(experiment))
		a.show(p, fmt.Sprintf("%d of %d, %s", i+1, len(todo), e.Name), all)
		err := reportOne(ctx, experiment, config, e, out)
		p.End()
		done += weight(experiment)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("interrupted; %d of %d experiments are in %s", r.Done(), len(todo), page)
		}
		if err != nil {
			e.Err = err
			failed = append(failed, fmt.Errorf("%s: %w", e.Name, err))
		}
		if err := writeResultFile(page, r.WriteHTML); err != nil {
			return err
		}
		a.tellEntry(i+1, len(todo), *e)
	}
	if err := a.tellReport(r, page); err != nil {
		return err
	}
	return errors.Join(failed...)
}

// reportOne runs an experiment of a report, writes its files and fills in its entry.
func reportOne(ctx context.Context, experiment lab.Experiment, config lab.Config, e *figure.Entry, out string) error {
	start := time.Now()
	result, err := experiment.Do(ctx, config)
	e.Took = time.Since(start)
	if err != nil {
		return err
	}
	if err := writeResult(out, result); err != nil {
		return err
	}
	e.Result = &result
	return nil
}

// weight returns the weight of an experiment in the progress of a report: 1 s + its expected time, in milliseconds.
func weight(e lab.Experiment) int64 { return 1000 * int64(1+e.Seconds) }

// tellEntry prints the outcome of an experiment of a report on stderr.
func (a *app) tellEntry(n, of int, e figure.Entry) {
	if a.quiet {
		return
	}
	c, text := e.Result.Count(), "failed"
	if e.Result != nil {
		text = fmt.Sprintf("%d rows, %d agree, %d disagree", c.Rows, c.Agree, c.Disagree)
	}
	fmt.Fprintf(a.stderr, "%d of %d  %s: %s, in %v\n", n, of, e.Name, text, e.Took.Round(100*time.Millisecond))
}

// tellReport prints the summary of a report.
func (a *app) tellReport(r figure.Report, page string) error {
	c := r.Count()
	if a.json {
		return cli.WriteJSON(a.stdout, map[string]any{
			"page": page, "experiments": len(r.Entries), "done": r.Done(),
			"rows": c.Rows, "agree": c.Agree, "disagree": c.Disagree,
		})
	}
	_, err := fmt.Fprintf(a.stdout, "%d of %d experiments, %d rows: %d agree with what is published, %d disagree\n%s\n",
		r.Done(), len(r.Entries), c.Rows, c.Agree, c.Disagree, page)
	return err
}

// machine describes this machine.
func machine() string {
	cpu := cpuid.CPU.BrandName
	if cpu == "" {
		cpu = "unknown processor"
	}
	return fmt.Sprintf("%s, %d cores used · %s %s/%s",
		cpu, runtime.GOMAXPROCS(0), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
