// Command oldnew compares two versions of the command bloomery: each must read what the other one writes.
//
//	go run ./oldnew                      in the folder eval: the last tag and this checkout
//	go run ./oldnew --old COMMIT --json
//	go run ./oldnew --candidates         two releases that .ci/tag makes in a clone
//
// The kinds of files (kinds.go, specs.go) are scripts: commands that make files, query them and change them. Both
// versions make the files of each kind from the same keys (inputs.go), and answer for the files of both (exchange.go).
// Then the versions take turns: one changes what the other one has made, and the first one changes that again.
//
// The newer version must read all files of the older one. The older version may refuse a file if its error says that a
// newer version wrote it. All other differences of answers are faults.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
)

func main() { cli.Main(run) }

// options are the flags.
type options struct {
	old, new   string
	candidates bool
	keys       int
	kinds      string
	list       bool
	json       bool
	quiet      bool
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	out := &cli.Checked{Writer: stdout}
	var o options
	root := &cobra.Command{
		Use:   "oldnew",
		Short: "Exchange files of every kind between two versions of bloomery",
		Long: `Builds two versions of bloomery, exchanges files of every kind between them in both directions, and compares
answers and bytes. A version is a commit, a tag, or the file of a built command.

Exit codes: 0; 1 if a file is unreadable or an answer differs; 2 after an error, or if there is no tag; 130 after
ctrl-C.`,
		Example: "  oldnew --old v1.0.0 --json\n  oldnew --old HEAD~20 --kinds 'release|delta'\n  oldnew --candidates",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return o.run(ctx, out, stderr) },
	}
	flags := root.Flags()
	flags.StringVar(&o.old, "old", "", "older version (default the last tag before this commit)")
	flags.StringVar(&o.new, "new", "", "newer version (default the files of this checkout)")
	flags.BoolVar(&o.candidates, "candidates", false, "compare two releases that .ci/tag makes of HEAD in a clone")
	flags.IntVar(&o.keys, "keys", 100_000, "keys that are queried in each file; about half of them are present")
	flags.StringVar(&o.kinds, "kinds", "", "regular expression for names of kinds (default all)")
	flags.BoolVar(&o.list, "list", false, "list the kinds")
	flags.BoolVar(&o.json, "json", false, "report as JSON")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	return cli.Program{Root: root, JSON: &o.json, Stdout: out, Stderr: stderr}.Run(ctx, args)
}

// run exchanges files of the chosen kinds and prints the report. The error is cli.ErrNo if there is a fault.
func (o *options) run(ctx context.Context, stdout, notes io.Writer) (err error) {
	choice, err := regexp.Compile(o.kinds)
	if err != nil {
		return fmt.Errorf("--kinds: %w", err)
	}
	if o.keys < 100 || o.keys > 100_000_000 {
		return errors.New("--keys must be between 100 and 100000000")
	}
	root, err := outputOf(ctx, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("oldnew runs in a checkout of the repository: %w", err)
	}
	all, err := allKinds(root, choice)
	if err != nil {
		return err
	}
	if o.list {
		for _, k := range all {
			fmt.Fprintln(stdout, k.name)
		}
		return nil
	}
	if o.quiet {
		notes = io.Discard
	}

	dir, err := os.MkdirTemp("", "oldnew-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	x := &exchange{ctx: ctx, dir: dir, root: root}
	if x.old, x.new, err = o.versions(ctx, root, dir, notes); err != nil {
		return err
	}
	if err := x.writeInputs(o.keys); err != nil {
		return err
	}

	x.report.Keys = o.keys
	if err := x.tryAll(all, notes); err != nil {
		return err
	}
	return x.report.print(stdout, o.json)
}

// tryAll exchanges files of the kinds, and shows progress.
func (x *exchange) tryAll(kinds []kind, notes io.Writer) error {
	p := cli.ShowProgress(notes, "kinds", int64(len(kinds)), time.Now())
	defer p.End()
	for _, k := range kinds {
		if err := x.try(k); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		p.Read.Add(1)
	}
	return nil
}

// versions builds both versions.
func (o *options) versions(ctx context.Context, root, dir string, notes io.Writer) (older, newer version, err error) {
	if o.candidates {
		if o.old != "" || o.new != "" {
			return older, newer, errors.New("--candidates is for releases of HEAD: leave out --old and --new")
		}
		return candidates(ctx, root, dir, notes)
	}
	if o.old == "" {
		// The tag of HEAD itself would be compared with HEAD.
		if o.old, err = outputOf(ctx, "git", "-C", root, "describe", "--tags", "--abbrev=0", "--match=v[0-9]*",
			"HEAD^"); err != nil {
			return older, newer, fmt.Errorf("NOTHING WAS COMPARED: no tag v* is before HEAD; fetch the tags, or name a "+
				"commit with --old: %w", err)
		}
	}
	if older, err = build(ctx, root, o.old, dir, "old", notes); err != nil {
		return older, newer, err
	}
	newer, err = build(ctx, root, o.new, dir, "new", notes)
	return older, newer, err
}

// outputOf runs a program and returns its standard output without blanks around it.
func outputOf(ctx context.Context, args ...string) (string, error) {
	var says strings.Builder
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stderr = &says
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(says.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// isProgram reports whether a version is the file of a built command.
func isProgram(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && filepath.Base(name) != name
}
