package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/figure"
	"github.com/bloomery/bloomery/lab"
)

func (a *app) labCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Measure the claims of papers and of our pages, and plot them",
		Example: "  bloomery lab list\n  bloomery lab run ph-late --out pictures\n" +
			"  bloomery lab report --quick --out report",
	}
	c.AddCommand(a.labListCommand(), a.labRunCommand(), a.labReportCommand(), a.labCostsCommand())
	return c
}

func (a *app) labListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the experiments",
		Long:    "List the experiments, with the approximate time of a full run on two cores.",
		Example: "  bloomery lab list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(lab.Experiments())
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "name\ttakes\tsource\twhat is varied")
			for _, e := range lab.Experiments() {
				fmt.Fprintf(w, "%s\t%v\t%s\t%s\n", e.Name, time.Duration(e.Seconds)*time.Second, e.Source, e.Varies)
			}
			return w.Flush()
		},
	}
}

func (a *app) labRunCommand() *cobra.Command {
	var config lab.Config
	var out string
	c := &cobra.Command{
		Use:   "run NAME...",
		Short: "Run experiments, print their tables and write their plots",
		Long: `Run experiments and print a table for each: published values, measured values with 95% intervals, and
whether they agree within the tolerance of the experiment. A NAME may be a pattern such as "ph-*". With --json each
result is one JSON value, printed when its experiment ends.

With --out each plot is written to that folder as SVG and PNG, and each result as NAME.json and NAME.csv. Files are
written completely or not at all. If you interrupt, finished files remain.`,
		Example:           "  bloomery lab run ph-anneal\n  bloomery lab run \"ph-*\" --trials 10 --out pictures",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			todo, err := lab.Match(args...) // before the first experiment takes minutes
			if err != nil {
				return err
			}
			if err := checkLab(c, config); err != nil {
				return err
			}
			if out != "" {
				if err := makeFolder(out); err != nil {
					return err
				}
			}
			for i, e := range todo {
				p := newProgress()
				a.show(p, e.Name, progressAll)
				config.Progress = p.share(0, progressAll)
				r, err := e.Do(c.Context(), config)
				p.end()
				if c.Context().Err() != nil && err != nil && i > 0 {
					return fmt.Errorf("interrupted; %d of %d experiments are done", i, len(todo))
				}
				if err != nil {
					return err
				}
				if err := a.keep(r, out); err != nil {
					return err
				}
			}
			return nil
		},
	}
	labFlags(c, &config)
	c.Flags().StringVar(&out, "out", "", "folder to write plots and results to")
	_ = c.MarkFlagDirname("out")
	return c
}

// labFlags adds the flags of lab.Config.
func labFlags(c *cobra.Command, config *lab.Config) {
	c.Flags().IntVar(&config.Trials, "trials", 0, "sets of keys (default: that of the experiment)")
	c.Flags().Uint64Var(&config.Seed, "seed", 1, "seed of the keys")
	c.Flags().BoolVar(&config.Quick, "quick", false, "fewer keys and trials, to see that everything works")
	c.Flags().StringVar(&config.Trace, "trace", "",
		"`file` of requests, one key a line, for experiments with requests (default: synthetic requests only)")
	c.Flags().StringVar(&config.Packets, "packets", "",
		"pcap or pcapng `file` for experiments that take payloads as keys (default: the capture in the program)")
}

// checkLab checks the flags of labFlags before any work.
func checkLab(c *cobra.Command, config lab.Config) error {
	if c.Flags().Changed("trials") && config.Trials < 1 {
		return fmt.Errorf("--trials %d: want at least one", config.Trials)
	}
	for _, input := range []struct{ flag, path string }{{"trace", config.Trace}, {"packets", config.Packets}} {
		if !c.Flags().Changed(input.flag) {
			continue
		}
		if input.path == "" {
			return fmt.Errorf("--%s: name a file", input.flag)
		}
		if err := readable(input.path); err != nil {
			return fmt.Errorf("--%s: %w", input.flag, err)
		}
	}
	return nil
}

// readable returns an error if a file cannot be read or is empty. It does not read from pipes, which would lose the
// data.
func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	switch st, err := f.Stat(); {
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case !st.Mode().IsRegular():
		return nil
	}
	if _, err := f.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s is empty", path)
	} else if err != nil {
		return err
	}
	return nil
}

// completeExperiments completes the names of experiments that are not given yet.
func completeExperiments(
	_ *cobra.Command,
	named []string,
	_ string,
) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, e := range lab.Experiments() {
		if !slices.Contains(named, e.Name) {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.Varies))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// keep writes the files of a result if out is not empty, and prints the result.
func (a *app) keep(r figure.Result, out string) error {
	if out != "" {
		if err := writeResult(out, r); err != nil {
			return err
		}
	}
	if a.json {
		return r.WriteJSON(a.stdout)
	}
	return r.WriteText(a.stdout)
}

// writeResult writes the files of a result into a folder.
func writeResult(out string, r figure.Result) error {
	for _, p := range r.Plots {
		for _, format := range []string{"svg", "png"} {
			draw := func(w io.Writer) error { return p.Draw(w, format) }
			if err := writeWhole(filepath.Join(out, p.Name+"."+format), draw); err != nil {
				return err
			}
		}
	}
	if err := writeWhole(filepath.Join(out, r.Name+".csv"), r.WriteCSV); err != nil {
		return err
	}
	return writeWhole(filepath.Join(out, r.Name+".json"), r.WriteJSON)
}

// share returns a function that takes the share done of a piece of work, in [0, 1], and shows it as the part of the
// whole from before to before+size.
func (p *progress) share(before, size int64) func(done float64) {
	p.read.Store(before)
	return func(done float64) { p.read.Store(before + int64(done*float64(size))) }
}
