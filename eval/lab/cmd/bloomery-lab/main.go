// Command bloomery-lab runs the experiments of the lab: tables and figures of papers, and of our own pages.
// Package lab and the packages below it implement the experiments.
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
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/eval/lab"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/untrusted"
)

func main() { cli.Main(run) }

// app is the state that the subcommands share.
type app struct {
	stdout, stderr io.Writer
	json, quiet    bool
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	out := &cli.Checked{Writer: stdout}
	a := &app{stdout: out, stderr: stderr}
	return cli.Program{Root: a.rootCommand(), JSON: &a.json, Stdout: out, Stderr: stderr}.Run(ctx, args)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "bloomery-lab",
		Short:   "Measure what the papers and our pages claim, and draw it",
		Version: cli.Version(),
		Example: "  bloomery-lab list\n  bloomery-lab run ph-late --out pictures\n  bloomery-lab report --quick --out report",
	}
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "report as JSON, errors too: a line on stderr with the fields error and hint")
	flags.BoolVarP(&a.quiet, "quiet", "q", false,
		"show no progress, notes and summary; answers, --json reports, warnings and errors stay")
	root.AddCommand(a.listCommand(), a.runCommand(), a.reportCommand(), a.costsCommand())
	return root
}

// show draws the progress of work that began at start. With --quiet it draws nothing.
func (a *app) show(what string, size int64, start time.Time) *cli.Progress {
	if a.quiet {
		what = ""
	}
	return cli.ShowProgress(a.stderr, what, size, start)
}

// writeResultFile writes a file of results atomically. An interrupt takes effect after the file is written.
func writeResultFile(path string, write func(io.Writer) error) error {
	return container.WriteAtomic(context.Background(), path, write)
}

// runFlags are the flags of the commands that run experiments.
type runFlags struct {
	config lab.Config
}

func (f *runFlags) register(c *cobra.Command) {
	c.Flags().IntVar(&f.config.Trials, "trials", 0, "sets of keys (default: what the experiment says)")
	c.Flags().Uint64Var(&f.config.Seed, "seed", 1, "seed of the keys")
	c.Flags().BoolVar(&f.config.Quick, "quick", false, "fewer keys and trials, to see that it works")
	c.Flags().BoolVar(&f.config.Full, "full", false, "larger sets of keys too, in experiments that have them: minutes")
	c.Flags().StringVar(&f.config.Trace, "trace", "",
		"`file` of requests, one key a line, for experiments that replay them (default: those parts are left out)")
	c.Flags().StringVar(&f.config.Packets, "packets", "",
		"pcap or pcapng `file`, for experiments that use payloads as keys (default: packets that come with the lab)")
}

// read returns the configuration, after checking that its files can be read.
func (f *runFlags) read(c *cobra.Command) (lab.Config, error) {
	if c.Flags().Changed("trials") && f.config.Trials < 1 {
		return f.config, fmt.Errorf("--trials %d: want at least one", f.config.Trials)
	}
	if f.config.Quick && f.config.Full {
		return f.config, errors.New("--quick and --full exclude each other")
	}
	for _, input := range []struct{ flag, path string }{{"trace", f.config.Trace}, {"packets", f.config.Packets}} {
		if !c.Flags().Changed(input.flag) {
			continue
		}
		if err := readable(input.path); err != nil {
			return f.config, fmt.Errorf("--%s: %w", input.flag, err)
		}
	}
	return f.config, nil
}

// completeExperiments completes the names of experiments that are not yet on the command line.
func completeExperiments(
	_ *cobra.Command, named []string, _ string,
) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, e := range lab.Experiments() {
		if !slices.Contains(named, e.Name) {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.Varies))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the experiments",
		Long:    "List the experiments, and the approximate time of each on an idle machine with 2 cores.",
		Example: "  bloomery-lab list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return cli.WriteJSON(a.stdout, lab.Experiments())
			}
			return writeList(a.stdout, lab.Experiments())
		},
	}
}

// writeList writes a line for each experiment: its name, its time, what is varied, and the part of the source, below
// the source, which consecutive experiments share.
func writeList(out io.Writer, experiments []lab.Experiment) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Times are approximate, of a full run on an idle machine with 2 cores.")
	last := ""
	for i, e := range experiments {
		source, part := splitSource(e.Source)
		if source != last {
			last = source
			alone := true
			if i+1 < len(experiments) {
				next, _ := splitSource(experiments[i+1].Source)
				alone = next != source
			}
			if alone { // the heading has room for the part
				source, part = e.Source, ""
			}
			fmt.Fprintf(w, "%s\n", source)
		}
		line := fmt.Sprintf("  %s\t%v\t%s", e.Name, time.Duration(e.Seconds)*time.Second, e.Varies)
		if part != "" {
			line += "\t" + part
		}
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

// splitSource splits a source into the document and the part of it, which is empty for a page of ours. A comma in
// parentheses belongs to the document.
func splitSource(source string) (document, part string) {
	if document, part, ok := strings.Cut(source, "), "); ok {
		return document + ")", part
	}
	document, part, _ = strings.Cut(source, ", ")
	return document, part
}

// readable returns an error if a file cannot be read. It does not open pipes, since the writer may be gone at the next
// opening.
func readable(path string) error {
	switch st, err := os.Stat(path); {
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case !st.Mode().IsRegular():
		return nil
	}
	f, _, err := untrusted.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s is empty", path)
	} else if err != nil {
		return err
	}
	return nil
}

// makeFolder creates a folder for results. It returns an error if no file can be created in the folder. It is called
// before the first experiment runs.
func makeFolder(path string) error {
	if err := cli.NoStdout("--out", "results go to a folder", path); err != nil {
		return err
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	return container.MayWrite(filepath.Join(path, "result"))
}
