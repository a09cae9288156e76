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
		Use:     "lab",
		Short:   "Measure what the papers and our pages claim, and draw it",
		Example: "  bloomery lab list\n  bloomery lab run ph-late --out pictures\n  bloomery lab report --quick --out report",
	}
	c.AddCommand(a.labListCommand(), a.labRunCommand(), a.labReportCommand(), a.labCostsCommand())
	return c
}

func (a *app) labListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the experiments",
		Long:    "List the experiments, and about how long each of them takes on two cores.",
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
		Long: `Run experiments and print a table for each: what was published, what was measured with its 95% interval, and whether
the two agree within the tolerance that the experiment states. A NAME may be a pattern, such as "ph-*". With --json each
result is one JSON value, printed as soon as it is there.

With --out each plot becomes an SVG and a PNG in that folder, and each result NAME.json and NAME.csv. Every file is written
whole or not at all; those that are done stay if you interrupt.`,
		Example:           "  bloomery lab run ph-anneal\n  bloomery lab run \"ph-*\" --trials 10 --out pictures",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			todo, err := lab.Match(args...) // a wrong name is found before the first takes its minutes
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

// labFlags adds the flags that say how experiments run.
func labFlags(c *cobra.Command, config *lab.Config) {
	c.Flags().IntVar(&config.Trials, "trials", 0, "sets of keys (default: what the experiment says)")
	c.Flags().Uint64Var(&config.Seed, "seed", 1, "seed of the keys")
	c.Flags().BoolVar(&config.Quick, "quick", false, "fewer keys and trials, to see that it works")
	c.Flags().StringVar(&config.Trace, "trace", "", "`file` of requests, one key a line, for experiments that replay them (default: none, and what needs one is left out)")
	c.Flags().StringVar(&config.Packets, "packets", "", "pcap or pcapng `file`, for experiments that take payloads as keys (default: what comes with the lab)")
}

// checkLab finds, before the work, what is wrong with the flags of labFlags.
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

// readable returns an error if there is nothing to be read from a file. It does not look at a pipe, which would lose what
// it reads.
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

// completeExperiments offers the experiments that are not named yet.
func completeExperiments(_ *cobra.Command, named []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, e := range lab.Experiments() {
		if !slices.Contains(named, e.Name) {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.Varies))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// keep prints a result, after writing its files if there is a folder for them.
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

// share returns a function that takes the share done of a piece of work, in [0, 1], and shows it as the part of the whole from
// before to before+size.
func (p *progress) share(before, size int64) func(done float64) {
	p.read.Store(before)
	return func(done float64) { p.read.Store(before + int64(done*float64(size))) }
}
