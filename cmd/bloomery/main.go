// Command bloomery builds, queries, changes and converts approximate-membership filters. Each subcommand has its own
// file. flags.go has the shared flags, hints.go the hints for errors. The packages bloomery, keyio, plan, interop and
// lab do the work.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// Exit codes, like those of grep.
// A signal ends with the code of the shell: 130 for SIGINT, 143 for SIGTERM.
const (
	exitOK = 0
	// check, count, get: no match; clubcard check: not "not revoked"; remove: key not found; verify: rate not kept;
	// exact verify: wrong answers; plan: impossible; publish --check: expired
	exitNo    = 1
	exitError = 2
)

// errNo ends a command with exitNo and without a message.
var errNo = errors.New("no")

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // a second signal kills
		cancel(signalled{s})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// signalled is the cause of a context that a signal has ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return "interrupted: " + s.String() }

func (s signalled) Unwrap() error { return context.Canceled }

// exitCode returns the exit code of a process that the signal has ended: 130 for SIGINT, 143 for SIGTERM.
func (s signalled) exitCode() int {
	if n, ok := s.Signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitError
}

// app is the state that the subcommands share.
type app struct {
	ctx            context.Context // ends when the command is interrupted
	stdinTaken     bool            // standard input is the filter or exact set
	stdin          io.Reader
	stdout, stderr io.Writer
	json, quiet    bool
	secretFile     string
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &checked{Writer: stdout}
	a := &app{ctx: ctx, stdin: stdin, stdout: out, stderr: stderr}
	root := a.rootCommand()
	root.SetArgs(args)
	c, err := root.ExecuteContextC(container.WithWarnings(ctx, func(err error) {
		fmt.Fprintln(stderr, "bloomery: warning:", err)
	}))
	err = plainUsage(c, err)
	a.json = a.json || wantsJSON(args)
	if err == nil || errors.Is(err, errNo) {
		err = cmp.Or(out.err, err)
	}
	var end signalled
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNo):
		return exitNo
	case errors.As(context.Cause(ctx), &end):
		a.fail(err)
		return end.exitCode()
	}
	a.fail(err)
	return exitError
}

// wantsJSON reports whether the flags ask for JSON, for errors in the flags themselves.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// failure is an error as JSON.
type failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

// fail prints an error and its hint: as text, or with --json as one line of JSON.
func (a *app) fail(err error) {
	f := failure{err.Error(), strings.ReplaceAll(hint(err), "\n  ", "\n")}
	if errors.Is(err, context.Canceled) {
		f = failure{Error: "interrupted; nothing was left behind"}
	}
	if a.json {
		_, _ = a.stderr.Write(appendJSON(nil, f))
		return
	}
	fmt.Fprintln(a.stderr, "bloomery:", strings.ReplaceAll(f.Error, "\n", "\n  "))
	if f.Hint != "" {
		fmt.Fprintln(a.stderr, "  "+strings.ReplaceAll(f.Hint, "\n", "\n  "))
	}
}

// checked is a writer that keeps its first error, for writers that ignore errors, such as those of help texts.
type checked struct {
	io.Writer
	err error
}

func (w *checked) Write(b []byte) (n int, err error) {
	n, err = w.Writer.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "bloomery",
		Short: `Small files that answer: "is this key in the list?"`,
		Long: `Bloomery turns a list of keys into a small filter file that answers "is this key in the list?".
A yes may be wrong, at a rate that you choose and can verify; a no never is.

A FILE may also be the folder of a sharded set, which bloomery build --shards and bloomery shard write; convert takes
one of its files. Commands that change a filter then write only the shards that change.`,
		Example: `  bloomery build -o blocked.bloom --fpr 0.1% blocklist.txt
  bloomery check blocked.bloom visitors.txt
  bloomery verify blocked.bloom --members blocklist.txt --random 1000000`,
		SilenceUsage: true, SilenceErrors: true,
	}
	a.versionFlag(root)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "report as JSON, errors too: a line on stderr with the fields error and hint")
	flags.BoolVarP(&a.quiet, "quiet", "q", false,
		"show no progress, notes and summary; answers, --json reports, warnings and errors stay")
	flags.Func("secret-file", "`file` with the secret of a filter with a keyed hash, 32 hex digits", func(path string) error {
		if path == "" { // an unset shell variable must not build without a secret
			return errors.New("name a file")
		}
		a.secretFile = path
		return nil
	})
	root.AddCommand(
		a.buildCommand(), a.checkCommand(), a.infoCommand(), a.labCommand(), a.verifyCommand(), a.addCommand(),
		a.removeCommand(), a.countCommand(), a.putCommand(), a.getCommand(), a.trimCommand(), a.mergeCommand(),
		a.intersectCommand(), a.manCommand(), a.estimateCommand(),
		a.convertCommand(), a.optimizeCommand(), a.planCommand(), a.demoCommand(), a.versionCommand(), a.shardCommand(),
		a.diffCommand(), a.patchCommand(), a.keygenCommand(), a.publishCommand(), a.followCommand(), a.exactCommand(),
		a.clubcardCommand(),
	)
	root.SetFlagErrorFunc(flagError)
	strictUsage(root)
	return root
}

// secret returns the secret of --secret-file, or nil.
func (a *app) secret() (*[filter.SecretSize]byte, error) {
	if a.secretFile == "" {
		return nil, nil
	}
	return readSecret(a.ctx, a.secretFile)
}

// open opens a filter file, or for "-" reads standard input, with the secret of --secret-file.
func (a *app) open(path string, o ...bloomery.Option) (*bloomery.Set, error) {
	secret, err := a.secret()
	if err != nil {
		return nil, err
	}
	if o = append(o, bloomery.WithSecret(secret)); path == stdio {
		return a.openStdin(o...)
	}
	if isPipe(path) {
		return a.openPipe(path, o...)
	}
	return bloomery.Open(path, o...)
}

// openPipe reads a filter from a named pipe or a device, up to its end. It ends when the command is interrupted.
func (a *app) openPipe(path string, o ...bloomery.Option) (*bloomery.Set, error) {
	f, err := untrusted.OpenStream(a.ctx, path)
	if err != nil {
		return nil, err
	}
	set, err := interruptible(a.ctx, func() (*bloomery.Set, error) {
		defer f.Close()
		return readWhole(f, o...)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

// lock locks a filter file for a change and reads it, after checking that a file can be written there.
func (a *app) lock(ctx context.Context, path string) (*bloomery.Locked, error) {
	if path == stdio {
		return nil, errStdinLock
	}
	secret, err := a.secret()
	if err != nil {
		return nil, err
	}
	switch st, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case st.Mode().IsRegular(): // Lock returns an error for others
		if err := container.MayWrite(path); err != nil {
			return nil, err
		}
	case st.IsDir():
		if err := container.MayWrite(filepath.Join(path, shard.ManifestName)); err != nil {
			return nil, err
		}
	}
	return bloomery.Lock(ctx, path, func() {
		if !a.quiet {
			fmt.Fprintf(a.stderr, "bloomery: waiting for another process that changes %s\n", path)
		}
	}, bloomery.WithSecret(secret))
}

// report prints what a command did: r as JSON with --json, nothing with --quiet, else a line of text on stderr.
func (a *app) report(r any, format string, args ...any) error {
	switch {
	case a.json:
		return a.printJSON(r)
	case a.quiet:
		return nil
	}
	_, err := fmt.Fprintf(a.stderr, format+"\n", args...)
	return err
}

// printJSON writes one indented JSON value.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
