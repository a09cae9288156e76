// Command bloomery builds, queries, changes and converts approximate-membership filters. Each file has one subcommand
// or a few similar ones; flags.go has the shared flags, input.go the passes over keys, print.go the reports and
// hints.go the hints for errors. The packages bloomery, keyio, plan and interop do the work.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/shard"
)

// Exit codes. exitNo: check, count, get: no match; clubcard check: not "not revoked"; remove: key not found; verify:
// rate not kept; exact verify: wrong answers; plan: impossible; publish --check: expired.
const exitOK, exitNo, exitError = cli.ExitOK, cli.ExitNo, cli.ExitError

// errNo ends a command with exitNo and without a message.
var errNo = cli.ErrNo

func main() { cli.Main(run) }

// app is the state that the subcommands share.
type app struct {
	ctx            context.Context // done when the command is interrupted
	stdinTaken     bool            // standard input is the filter or exact set
	stdoutTaken    bool            // standard output is a filter, or lines that are written while inputs are read
	stdin          io.Reader
	stdout, stderr io.Writer
	json, quiet    bool
	badRows        int64 // skipped, or used as keys
	secretFile     string
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &cli.Checked{Writer: stdout}
	a := &app{ctx: ctx, stdin: stdin, stdout: out, stderr: stderr}
	return cli.Program{Root: a.rootCommand(), JSON: &a.json, Stdout: out, Stderr: stderr, Hint: hint}.Run(ctx, args)
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
	}
	version := root.Flags().Bool("version", false, "print version, file format and platform") // like the version command
	root.RunE = func(c *cobra.Command, _ []string) error {
		if *version {
			return a.printVersion()
		}
		return c.Help()
	}
	root.SetIn(a.stdin)
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "report as JSON, errors too: a line on stderr with the fields error and hint")
	flags.BoolVarP(&a.quiet, "quiet", "q", false,
		"show no progress, notes and summary; answers, --json reports, warnings and errors stay")
	flags.Func("secret-file", "`file` with the secret of a filter with a keyed hash, 32 hex digits",
		named(&a.secretFile, "file"))
	root.AddCommand(
		a.buildCommand(), a.checkCommand(), a.infoCommand(), a.verifyCommand(), a.addCommand(),
		a.removeCommand(), a.countCommand(), a.putCommand(), a.getCommand(), a.trimCommand(), a.mergeCommand(),
		a.intersectCommand(), a.estimateCommand(),
		a.convertCommand(), a.optimizeCommand(), a.planCommand(), a.demoCommand(), a.versionCommand(), a.shardCommand(),
		a.diffCommand(), a.patchCommand(), a.keygenCommand(), a.publishCommand(), a.followCommand(), a.exactCommand(),
		a.clubcardCommand(), a.dedupCommand(),
	)
	return root
}

// secret returns the secret of --secret-file, or nil.
func (a *app) secret() (*filter.Secret, error) {
	if a.secretFile == "" {
		return nil, nil
	}
	return readSecret(a.ctx, a.secretFile)
}

// open opens a filter file, or reads a pipe or for "-" standard input up to its end, with the secret of --secret-file.
func (a *app) open(path string, o ...bloomery.Option) (*bloomery.Set, error) {
	secret, err := a.secret()
	if err != nil {
		return nil, err
	}
	o = append(o, bloomery.WithSecret(secret))
	return openOrRead(a, path, func() (*bloomery.Set, error) { return bloomery.Open(context.Background(), path, o...) },
		func(r io.Reader) (*bloomery.Set, error) { return readWhole(r, o...) })
}

// lock locks a filter file for a change and reads it, after checking that a file can be written there.
func (a *app) lock(ctx context.Context, path string) (*bloomery.Locked, error) {
	if path == stdio {
		return nil, errors.New("-: this command locks a file and replaces it, which standard input cannot be; name a file")
	}

	secret, err := a.secret()
	if err != nil {
		return nil, err
	}

	st, err := os.Stat(path)
	switch {
	case err != nil:
	case st.Mode().IsRegular(): // Lock returns an error for other files
		err = container.MayWrite(path)
	case st.IsDir():
		err = container.MayWrite(filepath.Join(path, shard.ManifestName))
	}
	if err != nil {
		return nil, err
	}
	waiting := func() { a.note("waiting for another process that changes %s", path) }
	return bloomery.Lock(ctx, path, bloomery.WithWaiting(waiting), bloomery.WithSecret(secret))
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version, file format and platform",
		Example: "  bloomery version --json\n  bloomery --version",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	return a.answer(map[string]any{
		"version": cli.Version(), "format_version": container.Version, "go": runtime.Version(), "platform": platform,
	}, "bloomery %s, file format %d, %s %s\n", cli.Version(), container.Version, runtime.Version(), platform)
}
