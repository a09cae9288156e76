// Command bloomery-beam builds sharded sets on many machines with Apache Beam: on Flink, Spark or Dataflow, or in this
// process. The result is the set that bloomery build --shards makes, and Bloomery opens it like a file.
//
//	bloomery-beam --input 'keys/*.txt.gz' --output set --spec 'blocked(fpr=0.01)' --shards 16
//	bloomery-beam --input 's3://data/keys/' --output s3://data/set --spec fuse --shards 1000 \
//		--runner flink --endpoint jobserver:8099 --environment external --environment-config localhost:50000
//	bloomery-beam worker --port 50000
//
// Package job does the work. The same program is the submitter and the worker: the command worker serves a worker pool,
// and a runner that starts containers or processes starts this program as the container contract of Beam requires
// (worker.go).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/beam/job"
	"github.com/bloomery/bloomery/internal/cli"
)

func main() {
	if isBoot(os.Args[1:]) {
		os.Exit(boot(os.Args[1:], os.Stderr))
	}
	cli.Main(func(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
		return run(ctx, args, stdout, stderr)
	})
}

// app is the state of the command.
type app struct {
	stdout, stderr io.Writer
	json, quiet    bool
	verbose        bool
}

// run is the whole program. It returns the exit code: 0, 2 after an error, or the code of a signal.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var end cli.Signalled
	switch {
	case err == nil:
		return cli.ExitOK
	case errors.As(context.Cause(ctx), &end):
		a.printError(err)
		if n, ok := end.Signal.(syscall.Signal); ok {
			return 128 + int(n)
		}
	default:
		a.printError(err)
	}
	return cli.ExitError
}

// command returns the command with its flags and its subcommand.
func (a *app) command() *cobra.Command {
	c := a.buildCommand()
	c.Version = cli.Version()
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetOut(a.stdout)
	c.SetErr(a.stderr)
	flags := c.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "report as JSON, errors too: a line on stderr with the field error")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "show no progress, warnings and summary")
	flags.BoolVarP(&a.verbose, "verbose", "v", false,
		"show the log of Beam and of a runner in this process, and after an error of a runner its trace")
	c.AddCommand(a.workerCommand())
	c.CompletionOptions.HiddenDefaultCmd = true
	return c
}

// printError prints an error. The trace of a runner comes after it, with --verbose only.
func (a *app) printError(err error) {
	trace := ""
	if r := (*job.RunnerError)(nil); errors.As(err, &r) {
		trace = strings.TrimSpace(r.Trace)
	}
	if a.json {
		fields := struct {
			Error string `json:"error"`
			Trace string `json:"trace,omitempty"`
		}{Error: err.Error()}
		if a.verbose {
			fields.Trace = trace
		}
		_, _ = a.stderr.Write(cli.AppendJSON(nil, fields))
		return
	}

	fmt.Fprintln(a.stderr, "bloomery-beam:", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	switch {
	case trace != "" && a.verbose:
		fmt.Fprintln(a.stderr, trace)
	case trace != "":
		fmt.Fprintln(a.stderr, "bloomery-beam: --verbose shows what the runner says")
	}
}

// printWarning prints a warning.
func (a *app) printWarning(text string) {
	if !a.quiet {
		fmt.Fprintln(a.stderr, "bloomery-beam: warning:", text)
	}
}

// note prints what the program does.
func (a *app) note(text string) {
	if !a.quiet && !a.json {
		fmt.Fprintln(a.stderr, "bloomery-beam:", text)
	}
}
