// Package cli provides the common parts of the commands of this repository: signals and exit codes, errors as text and
// as JSON, messages for errors of the command line, pages of help, and a progress bar.
package cli

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/container"
)

// Exit codes, the same as in grep. A signal ends with the code of the shell: 130 for SIGINT, 143 for SIGTERM.
const (
	ExitOK    = 0
	ExitNo    = 1 // the answer is no: see ErrNo
	ExitError = 2
)

// ErrNo ends a command with ExitNo and without a message.
var ErrNo = errors.New("no")

// Main calls run with a context that SIGINT or SIGTERM ends, and exits with its result. A second signal ends the
// process at once.
func Main(run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals

		// The default action is back: a second signal ends the process at once.
		signal.Stop(signals)
		cancel(Signalled{s})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, standardError()))
}

// Signalled is the cause of a context that was ended by a signal.
type Signalled struct{ os.Signal }

func (s Signalled) Error() string { return "interrupted: " + s.String() }

func (s Signalled) Unwrap() error { return context.Canceled }

// exitCode returns the exit code of a process that was ended by the signal: 130 for SIGINT, 143 for SIGTERM.
func (s Signalled) exitCode() int {
	if n, ok := s.Signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return ExitError
}

// Program is a command line program.
type Program struct {
	Root   *cobra.Command
	Topics []Topic
	JSON   *bool // whether errors are printed as JSON: set by a flag of Root, or by Run if the arguments have --json
	Stdout *Checked
	Stderr io.Writer
	// Hint returns a hint for an error that has none, or "". It may be nil.
	Hint func(c *cobra.Command, err error) string
}

// Run runs the program, prints its error, and returns the exit code.
func (p Program) Run(ctx context.Context, args []string) int {
	p.Root.SilenceUsage, p.Root.SilenceErrors = true, true
	p.Root.SetOut(p.Stdout)
	p.Root.SetErr(p.Stderr)
	p.Root.SetFlagErrorFunc(flagError)
	p.Root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), Page(c, p.Topics)) })
	strictUsage(p.Root, p.Topics)
	var helpErr error
	strictHelp(p.Root, &helpErr)
	p.Root.SetArgs(args)

	c, err := p.Root.ExecuteContextC(container.WithWarnings(ctx, func(err error) {
		fmt.Fprintf(p.Stderr, "%s: warning: %v\n", p.Root.Name(), err)
	}))
	if err == nil {
		err = helpErr
	}

	*p.JSON = *p.JSON || wantsJSON(args)
	if err == nil || errors.Is(err, ErrNo) {
		err = cmp.Or(p.Stdout.err, err)
	}

	var end Signalled
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrNo):
		return ExitNo
	case errors.As(context.Cause(ctx), &end):
		p.printError(c, err)
		return end.exitCode()
	}
	p.printError(c, err)
	return ExitError
}

// wantsJSON reports whether the arguments request JSON. It is for errors in the flags themselves.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// printError prints an error and its hint: as text, or with --json as one line of JSON.
func (p Program) printError(c *cobra.Command, err error) {
	hint := ""
	var own interface{ Hint() string }
	switch {
	case errors.As(err, &own):
		hint = own.Hint()
	case p.Hint != nil:
		hint = p.Hint(c, err)
	}
	f := struct {
		Error string `json:"error"`
		Hint  string `json:"hint,omitempty"`
	}{err.Error(), strings.ReplaceAll(hint, "\n  ", "\n")}
	if errors.Is(err, context.Canceled) {
		f.Error, f.Hint = "interrupted; nothing was left behind", ""
	}
	if *p.JSON {
		_, _ = p.Stderr.Write(AppendJSON(nil, f))
		return
	}
	fmt.Fprintf(p.Stderr, "%s: %s\n", p.Root.Name(), strings.ReplaceAll(f.Error, "\n", "\n  "))
	if f.Hint != "" {
		fmt.Fprintln(p.Stderr, "  "+strings.ReplaceAll(f.Hint, "\n", "\n  "))
	}
}

// AppendJSON appends a line of JSON. v must be a value whose encoding cannot fail.
func AppendJSON(to []byte, v any) []byte {
	b := bytes.NewBuffer(to)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return b.Bytes()
}

// WriteJSON writes one indented JSON value.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Checked is a writer that keeps its first error, for code that ignores errors of writes, such as the help of cobra.
type Checked struct {
	io.Writer
	err error
}

func (w *Checked) Write(b []byte) (n int, err error) {
	n, err = w.Writer.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// Sync waits until the output is on the disk, if it is a regular file.
func Sync(file any) error {
	f := fileOf(file)
	if f == nil {
		return nil
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return err
	}
	return f.Sync()
}

//go:embed VERSION
var version string

// unreleased matches the end of the version that Go gives a module at a commit without a tag, or with changed files.
var unreleased = regexp.MustCompile(`(?:[.-]\d{14}-([0-9a-f]{12}))?(?:\+(dirty))?$`)

// Version returns the version of the repository, such as 1.0.0-rc.1. If the build knows that it is not a released
// version, the commit and changes follow: 1.0.0-rc.1+1d69a9eba255.dirty.
func Version() string {
	v := strings.TrimSpace(version)
	if b, ok := debug.ReadBuildInfo(); ok {
		v += suffixOf(b.Main.Version)
	}
	return v
}

// suffixOf returns what a build adds to the version for the version that Go gives its main module, or "".
func suffixOf(main string) string {
	part := unreleased.FindStringSubmatch(main)
	if suffix := strings.Trim(part[1]+"."+part[2], "."); suffix != "" {
		return "+" + suffix
	}
	return ""
}

// Short writes a number with three digits and a unit.
func Short(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= 0.9995*u.size { // from here on, %.3g of the smaller unit would be 1e+03
			return fmt.Sprintf("%.3g%s", v/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g", v)
}

// Either joins names: "a, b or c".
func Either(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
