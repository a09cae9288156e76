package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/lab"
)

func (a *app) labCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "lab",
		Short:   "Measure what the papers and our pages claim, and draw it",
		Example: "  bloomery lab list\n  bloomery lab run ph-late --out pictures",
	}
	c.AddCommand(a.labListCommand(), a.labRunCommand())
	return c
}

func (a *app) labListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the experiments",
		Example: "  bloomery lab list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(lab.Experiments())
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "name\tsource\twhat is varied")
			for _, e := range lab.Experiments() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, e.Source, e.Varies)
			}
			return w.Flush()
		},
	}
}

func (a *app) labRunCommand() *cobra.Command {
	var (
		config lab.Config
		out    string
		names  []string
	)
	for _, e := range lab.Experiments() {
		names = append(names, e.Name)
	}
	c := &cobra.Command{
		Use:       "run NAME...",
		Short:     "Run experiments, print their tables and write their plots",
		Long:      "Run experiments, print their tables and, with --out, write their plots as SVG and PNG. Those that are done stay if you interrupt.",
		Example:   "  bloomery lab run ph-anneal\n  bloomery lab run ph-time ph-late --trials 10 --out pictures",
		Args:      cobra.MinimumNArgs(1),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			var todo []lab.Experiment
			for _, name := range args { // a wrong name is found before the first takes its minutes
				e, err := lab.ByName(name)
				if err != nil {
					return err
				}
				todo = append(todo, e)
			}
			if config.Trials < 0 {
				return fmt.Errorf("--trials %d: want at least one", config.Trials)
			}
			if out != "" {
				if err := os.MkdirAll(out, 0o777); err != nil {
					return err
				}
			}
			for _, e := range todo {
				if err := a.experiment(c.Context(), e, config, out); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().IntVar(&config.Trials, "trials", 0, "sets of keys (default: what the experiment says)")
	c.Flags().Uint64Var(&config.Seed, "seed", 1, "seed of the keys")
	c.Flags().BoolVar(&config.Quick, "quick", false, "fewer keys and trials, to see that it works")
	c.Flags().StringVar(&out, "out", "", "folder to write plots to")
	_ = c.MarkFlagDirname("out")
	return c
}

// experiment runs one and prints what it found.
func (a *app) experiment(ctx context.Context, e lab.Experiment, config lab.Config, out string) error {
	const all = 1 << 20
	p := newProgress()
	a.show(p, e.Name, all)
	config.Progress = func(done float64) { p.read.Store(int64(done * all)) }
	r, err := e.Do(ctx, config)
	p.end()
	if err != nil {
		return err
	}
	if out != "" {
		for _, plot := range r.Plots {
			for _, format := range []string{"svg", "png"} {
				if err := draw(plot, filepath.Join(out, plot.Name+"."+format), format); err != nil {
					return err
				}
			}
		}
	}
	if a.json {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.stdout, "%s (%s): %d trials, seed %d\n", r.Name, r.Source, r.Trials, r.Seed)
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, row := range r.Rows {
		fmt.Fprintf(w, "  %s\t%.4g\t%.4g to %.4g\t%s\n", row.Label, row.Measured, row.Low, row.High, row.Note)
	}
	return w.Flush()
}

// draw writes a picture, or nothing.
func draw(p lab.Plot, path, format string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = p.Draw(f, format)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}
