// Command bloomery builds, checks and ships approximate-membership filters from lists of keys.
package main

import (
	"context"
	"encoding/hex"
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

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

// Exit codes, as grep has them.
const (
	exitOK    = 0
	exitNo    = 1 // check, count, get: nothing matched; remove: a key was not there; verify: the promise is broken
	exitError = 2
)

// errNo ends a command with exitNo and no message: its output has said it all.
var errNo = errors.New("no")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// app is what the subcommands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json, quiet    bool
	secretFile     string
}

// run is the whole program.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:   "bloomery",
		Short: "Small files that answer: is this key in the list?",
		Long: `Bloomery turns a list of keys into a small filter file that answers "is this key in the list?".
A yes may be wrong at a rate that you choose and can verify; a no never is.`,
		Example: `  bloomery build -o blocked.bloom --fpr 0.1% blocklist.txt
  bloomery check blocked.bloom visitors.txt
  bloomery verify blocked.bloom --members blocklist.txt --random 1000000`,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "report as JSON")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "show no progress and no summary")
	flags.Func("secret-file", "`file` with the 32 hex digits of the secret of a keyed filter", func(path string) error {
		if path == "" { // an unset variable must not build without a secret
			return errors.New("name a file")
		}
		a.secretFile = path
		return nil
	})
	root.AddCommand(a.buildCommand(), a.checkCommand(), a.infoCommand(), a.labCommand(), a.verifyCommand(), a.addCommand(),
		a.removeCommand(), a.countCommand(), a.putCommand(), a.getCommand(), a.trimCommand(), a.mergeCommand(), a.convertCommand(),
		a.optimizeCommand(), a.planCommand(), a.demoCommand(), a.versionCommand())
	root.SetFlagErrorFunc(flagError)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args = func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("completion %s: there are bash, fish, powershell and zsh", args[0])
			}
			return nil
		}
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() } // what cannot run takes any argument
	}

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

// flagError says what a flag wants in the place of what strconv says.
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

// hint says what to do about an error that leaves the user at a loss.
func hint(err error) string {
	var format *container.FormatError // of a filter file; other files end too early as well
	var advised *advised
	switch {
	case errors.As(err, &advised):
		return advised.hint
	case errors.Is(err, container.ErrMagic):
		return "Give a file that bloomery build wrote, or bloomery convert; keys to ask for come after it."
	case errors.Is(err, interop.ErrFormat), errors.Is(err, errNoOther):
		return "bloomery convert --help says which files and filters there are."
	case errors.Is(err, container.ErrVersion):
		return "Install a newer bloomery, or build the file again with this one."
	case errors.Is(err, container.ErrChecksum), errors.Is(err, container.ErrCorrupt), errors.As(err, &format) && errors.Is(format, io.ErrUnexpectedEOF):
		return "The file is damaged or incomplete: copy it again or build it anew."
	case errors.Is(err, container.ErrChanged):
		return "Nothing was written; run the command again."
	case errors.Is(err, container.ErrSecret):
		return "Name the file with the right secret: --secret-file FILE."
	case errors.Is(err, filter.ErrMismatch):
		return "Filters can be merged if family, size and seed are the same: build them with the same --bytes and --seed."
	case errors.Is(err, filter.ErrUnsupported):
		return "All families but fuse take keys later; rankindexed, dleft and counting take keys out again and count them;\n" +
			"  rankindexed keeps values, with --value-bits; standard, blocked and counting merge. Build with one of them."
	}
	return ""
}

// secret reads the secret, if one is named.
func (a *app) secret() (*[filter.SecretSize]byte, error) {
	if a.secretFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(a.secretFile)
	if err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != filter.SecretSize {
		return nil, fmt.Errorf("%s does not hold a secret of 32 hex digits; make one with: openssl rand -hex 16", a.secretFile)
	}
	return (*[filter.SecretSize]byte)(b), nil
}

func (a *app) options() (container.Options, error) {
	s, err := a.secret()
	return container.Options{Secret: s}, err
}

// printJSON writes one indented JSON value.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
