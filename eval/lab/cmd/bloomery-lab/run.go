package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/eval/lab"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/cli"
)

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	var out string
	c := &cobra.Command{
		Use:   "run NAME...",
		Short: "Run experiments, print their tables and write their plots",
		Long: `Run experiments and print a table for each: what was published, what was measured with its 95%
interval, and whether the two agree within the tolerance that the experiment states. A NAME may be a pattern, such as
"ph-*". With --json each result is one JSON value, printed as soon as it is there.

With --out each plot becomes an SVG and a PNG in that folder, and each result NAME.json and NAME.csv. Every file is
written whole or not at all; those that are done stay if you interrupt.`,
		Example:           "  bloomery-lab run ph-anneal\n  bloomery-lab run \"ph-*\" --trials 10 --out pictures",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			todo, err := lab.Match(args...) // fails for a wrong name before the first experiment runs
			if err != nil {
				return err
			}
			config, err := flags.read(c)
			if err != nil {
				return err
			}
			if out != "" {
				if err := makeFolder(out); err != nil {
					return err
				}
			}
			return a.runAll(c.Context(), todo, config, out)
		},
	}
	flags.register(c)
	c.Flags().StringVar(&out, "out", "", "folder to write plots and results to")
	_ = c.MarkFlagDirname("out")
	return c
}

// runAll runs experiments one after the other and prints their results.
func (a *app) runAll(ctx context.Context, todo []lab.Experiment, config lab.Config, out string) error {
	for i, e := range todo {
		p := a.show(e.Name, cli.All, time.Now())
		config.Progress = p.Share(0, cli.All)
		r, err := e.Do(ctx, config)
		p.End()
		if ctx.Err() != nil && err != nil && i > 0 {
			return fmt.Errorf("interrupted; %d of %d experiments are done", i, len(todo))
		}
		if err != nil {
			return err
		}
		if out != "" {
			if err := writeResult(out, r); err != nil {
				return err
			}
		}
		show := r.WriteText
		if a.json {
			show = r.WriteJSON
		}
		if err := show(a.stdout); err != nil {
			return err
		}
	}
	return nil
}

// writeResult writes the files of a result into a folder.
func writeResult(out string, r figure.Result) error {
	for _, p := range r.Plots {
		for _, format := range []string{"svg", "png"} {
			draw := func(w io.Writer) error { return p.Draw(w, format) }
			if err := writeResultFile(filepath.Join(out, p.Name+"."+format), draw); err != nil {
				return err
			}
		}
	}
	if err := writeResultFile(filepath.Join(out, r.Name+".csv"), r.WriteCSV); err != nil {
		return err
	}
	return writeResultFile(filepath.Join(out, r.Name+".json"), r.WriteJSON)
}
