package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/eval/lab"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/cli"
)

func (a *app) reportCommand() *cobra.Command {
	var flags runFlags
	var out string
	c := &cobra.Command{
		Use:   "report --out DIR [NAME...]",
		Short: "Run all experiments and write pages of what they found",
		Long: `Run all experiments, or those that the names and patterns choose, and write pages with their tables and
plots, beside the files that "run --out" writes. Begin with DIR/index.html, the overview. It links to a page for each
document, such as DIR/partitioned-hashing.html. No page needs a script or another file.

The pages are written anew after every experiment and say what is missing, so that you may look at them early, and keep
them if you interrupt.

Rows that disagree with what was published are shown like the others and do not change the exit code. An experiment
that fails is named on its page, the others go on, and the exit code is 2. Files that other reports left in DIR stay.`,
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
				return errors.New("name the folder for the pages: --out DIR")
			}
			if err := makeFolder(out); err != nil {
				return err
			}
			return a.report(c.Context(), todo, config, out)
		},
	}
	flags.register(c)
	c.Flags().StringVar(&out, "out", "", "folder to write the pages and the results to")
	_ = c.MarkFlagDirname("out")
	return c
}

// report runs the experiments and keeps the pages up to date.
func (a *app) report(ctx context.Context, todo []lab.Experiment, config lab.Config, out string) error {
	p, all := newPages(todo, config, out), int64(0)
	for _, e := range todo {
		all += weight(e)
	}
	if err := p.write(nil); err != nil { // fails before the first experiment if the pages cannot be written
		return err
	}
	var failed []error
	done := int64(0)
	for i, experiment := range todo {
		e := p.entries[experiment.Name]
		progress := a.show(fmt.Sprintf("%d of %d, %s", i+1, len(todo), e.Name), all, p.report.Started)
		config.Progress = progress.Share(done, weight(experiment))
		err := reportOne(ctx, experiment, config, e, out)
		progress.End()
		done += weight(experiment)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("interrupted; %d of %d experiments are in %s", p.report.Done(), len(todo), p.index())
		}
		if err != nil {
			e.Err = err
			failed = append(failed, fmt.Errorf("%s: %w", e.Name, err))
		}
		if err := p.write(e); err != nil {
			return err
		}
		a.tellEntry(i+1, len(todo), *e)
	}
	if err := a.tellReport(p); err != nil {
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

// tellReport prints the summary of a report and the path of its first page.
func (a *app) tellReport(p *pages) error {
	r, c := p.report, p.report.Count()
	n := len(r.Entries())
	if a.json {
		var documents []string
		for i := range r.Documents {
			documents = append(documents, p.document(i))
		}
		return cli.WriteJSON(a.stdout, map[string]any{
			"page": p.index(), "documents": documents, "experiments": n, "done": r.Done(),
			"rows": c.Rows, "agree": c.Agree, "disagree": c.Disagree,
		})
	}
	_, err := fmt.Fprintf(a.stdout, `%d of %d experiments, %d rows: %d agree with what is published, %d disagree
Begin with the overview, which links to the pages of documents (%d):
%s
`, r.Done(), n, c.Rows, c.Agree, c.Disagree, len(r.Documents), p.index())
	return err
}
