// Command bloomery-lab runs the experiments of the lab: tables and figures of papers, and of our own pages. Each
// subcommand has its own file. Package lab and the rooms below it do the work.
package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
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

// show draws the progress until it ends, unless with --quiet.
func (a *app) show(p *cli.Progress, what string, size int64) {
	if a.quiet {
		what = ""
	}
	p.Show(a.stderr, what, size)
}

// writeResultFile writes a file of results atomically. An interrupt takes effect after it.
func writeResultFile(path string, write func(io.Writer) error) error {
	return container.WriteAtomic(context.Background(), path, write)
}
