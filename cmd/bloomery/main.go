// Command bloomery builds, queries, changes and converts approximate-membership filters. Each subcommand has its own
// file. flags.go has the shared flags, hints.go the hints for errors. The packages bloomery, keyio, plan, interop and
// lab do the work.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// Exit codes, like those of grep.
const (
	exitOK    = 0
	exitNo    = 1 // check, count, get: no match; remove: key not found; verify: rate not kept; plan: impossible
	exitError = 2
)

// errNo ends a command with exitNo and without a message.
var errNo = errors.New("no")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// app is the state that the subcommands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json, quiet    bool
	secretFile     string
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNo):
		return exitNo
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "bloomery: interrupted; nothing was left behind")
	default:
		fmt.Fprintln(stderr, "bloomery:", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		if hint := hint(err); hint != "" {
			fmt.Fprintln(stderr, "  "+hint)
		}
	}
	return exitError
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "bloomery",
		Short: `Small files that answer: "is this key in the list?"`,
		Long: `Bloomery turns a list of keys into a small filter file that answers "is this key in the list?".
A yes may be wrong, at a rate that you choose and can verify; a no never is.`,
		Example: `  bloomery build -o blocked.bloom --fpr 0.1% blocklist.txt
  bloomery check blocked.bloom visitors.txt
  bloomery verify blocked.bloom --members blocklist.txt --random 1000000`,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "report as JSON")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "show no progress and no summary")
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
		a.intersectCommand(), a.estimateCommand(),
		a.convertCommand(), a.optimizeCommand(), a.planCommand(), a.demoCommand(), a.versionCommand(),
	)
	root.SetFlagErrorFunc(flagError)
	strictCompletion(root)
	return root
}

// strictCompletion makes the completion command fail for unknown shells.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("completion %s: there are bash, fish, powershell and zsh", args[0])
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() } // a command that cannot run takes any argument
}

// flagError replaces an error of strconv by a description of the value that the flag takes.
func flagError(_ *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &number) {
		return err
	}
	want := "a number"
	if value.GetFlag().Value.Type() == "uint64" {
		want = "a whole number of 0 or more"
	}
	return fmt.Errorf("--%s %q: want %s", value.GetFlag().Name, value.GetValue(), want)
}

// secret returns the secret of --secret-file, or nil.
func (a *app) secret() (*[filter.SecretSize]byte, error) {
	if a.secretFile == "" {
		return nil, nil
	}
	return readSecret(a.secretFile)
}

// open opens a filter file with the secret of --secret-file.
func (a *app) open(path string, o ...bloomery.Option) (*bloomery.Set, error) {
	secret, err := a.secret()
	if err != nil {
		return nil, err
	}
	return bloomery.Open(path, append(o, bloomery.WithSecret(secret))...)
}

// lock locks a filter file for a change and reads it, after checking that a file can be written there.
func (a *app) lock(ctx context.Context, path string) (*bloomery.Locked, error) {
	secret, err := a.secret()
	if err != nil {
		return nil, err
	}
	switch st, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case st.Mode().IsRegular(): // Lock returns an error for others
		if err := mayCreate(path); err != nil {
			return nil, err
		}
	}
	return bloomery.Lock(ctx, path, func() {
		if !a.quiet {
			fmt.Fprintf(a.stderr, "bloomery: waiting for another process that changes %s\n", path)
		}
	}, bloomery.WithSecret(secret))
}

// printJSON writes one indented JSON value.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
