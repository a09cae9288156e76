// Command bloomery-beam builds sharded sets on many machines with Apache Beam. Package job does the work.
//
// The same program is the submitter and the worker: the command worker serves a worker pool, and a runner that starts
// containers or processes starts this program as the container contract of Beam says (boot.go).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/beam/job"
)

func main() {
	if isBoot(os.Args[1:]) {
		os.Exit(boot(os.Args[1:], os.Stderr))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // a second signal kills
		cancel(signalled{s})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// signalled is the cause of a context that a signal has ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return "interrupted: " + s.String() }

func (s signalled) Unwrap() error { return context.Canceled }

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
	var end signalled
	switch {
	case err == nil:
		return 0
	case errors.As(context.Cause(ctx), &end):
		a.fail(err)
		if n, ok := end.Signal.(syscall.Signal); ok {
			return 128 + int(n)
		}
	default:
		a.fail(err)
	}
	return 2
}

// command returns the command with its flags and its subcommand.
func (a *app) command() *cobra.Command {
	c := a.buildCommand()
	if c.Version = job.Version(); c.Version == "" {
		c.Version = "(devel)"
	}
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

// fail prints an error. The trace of a runner comes after it, with --verbose only.
func (a *app) fail(err error) {
	trace := ""
	if r := (*job.RunnerError)(nil); errors.As(err, &r) {
		trace = strings.TrimSpace(r.Trace)
	}
	if a.json {
		fields := map[string]string{"error": err.Error()}
		if a.verbose && trace != "" {
			fields["trace"] = trace
		}
		b, _ := json.Marshal(fields)
		fmt.Fprintf(a.stderr, "%s\n", b)
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

// warn prints a warning.
func (a *app) warn(text string) {
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

// printJSON writes one indented JSON value.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
