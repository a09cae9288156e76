// Command bloomery builds, queries, changes and converts approximate-membership filters. Each file has one subcommand
// or a few similar ones; flags.go has the shared flags, input.go the passes over keys, print.go the reports and
// hints.go the hints for errors. The packages bloomery, keyio, plan and interop do the work.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

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
	keyless        int64 // rows without a key
	secretFile     string
	keyNotes       []object // about the keys of a build
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &cli.Checked{Writer: stdout}
	a := &app{ctx: ctx, stdin: stdin, stdout: out, stderr: stderr}
	p := cli.Program{Root: a.rootCommand(), Topics: topics, JSON: &a.json, Stdout: out, Stderr: stderr}
	p.Hint = func(c *cobra.Command, err error) string { return cmp.Or(adviseKey(c, args, err), hint(c, err)) }
	return p.Run(ctx, args)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "bloomery",
		Short: `Small files that answer: "is this key in the list?"`,
		Long: `Bloomery turns a list of keys into a small filter file that answers "is this key in the list?" A "no"
is always right. A "yes" is wrong for few other keys: at a rate that you choose, such as 1% with 7 to 10 bits per key,
and can measure.`,
		Example: `  bloomery build -o blocked.bloom --fpr 0.1% blocklist.txt
  bloomery check blocked.bloom -e yopmail.com
  bloomery verify blocked.bloom --members blocklist.txt`,
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
	flags.BoolVar(&a.json, "json", false, "print reports, answers and errors as JSON")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print no progress, notes and summary")
	flags.StringVar(&a.secretFile, "secret-file", "", "`FILE` with the secret of a keyed hash, 32 hex digits")
	for _, job := range a.jobs() {
		root.AddGroup(&cobra.Group{ID: job.title, Title: job.title + ":"})
		for _, c := range job.commands {
			c.GroupID = job.title
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID(otherJobs)
	return root
}

// job is a group of commands on the first page of help.
type job struct {
	title    string
	commands []*cobra.Command
}

const otherJobs = "Other jobs"

func (a *app) jobs() []job {
	return []job{
		{"Make a filter", []*cobra.Command{a.buildCommand(), a.demoCommand(), a.planCommand(), a.shardCommand()}},
		{"Ask a filter", []*cobra.Command{
			a.checkCommand(), a.countCommand(), a.estimateCommand(), a.getCommand(), a.infoCommand(), a.verifyCommand(),
		}},
		{"Change filters", []*cobra.Command{
			a.addCommand(), a.intersectCommand(), a.mergeCommand(), a.optimizeCommand(), a.putCommand(),
			a.removeCommand(), a.trimCommand(),
		}},
		{"Keep copies up to date", []*cobra.Command{
			a.diffCommand(), a.followCommand(), a.keygenCommand(), a.patchCommand(), a.publishCommand(),
		}},
		{otherJobs, []*cobra.Command{
			a.clubcardCommand(), a.completionCommand(), a.convertCommand(), a.dedupCommand(), a.exactCommand(),
			a.versionCommand(),
		}},
	}
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

// completionCommand takes the place of the command of cobra, which has a page for each shell.
func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|fish|powershell|zsh",
		Short:     "Print a script that completes commands in a shell",
		Example:   "  bloomery completion bash > bloomery.bash",
		ValidArgs: []string{"bash", "fish", "powershell", "zsh"},
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && !slices.Contains(c.ValidArgs, args[0]) {
				return cli.Advise(fmt.Errorf("completion %q: want %s", args[0], cli.Either(c.ValidArgs)), "Usage: "+cli.Usage(c))
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(a.stdout, true)
			case "fish":
				return c.Root().GenFishCompletion(a.stdout, true)
			case "powershell":
				return c.Root().GenPowerShellCompletionWithDesc(a.stdout)
			}
			return c.Root().GenZshCompletion(a.stdout)
		},
	}
}

func (a *app) printVersion() error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	return a.answer(map[string]any{
		"version": cli.Version(), "format_version": container.Version, "go": runtime.Version(), "platform": platform,
	}, "bloomery %s, file format %d, %s %s\n", cli.Version(), container.Version, runtime.Version(), platform)
}
