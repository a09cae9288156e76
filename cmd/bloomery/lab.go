package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
)

// labPackage is the package of the program of the lab: a module of its own, so that bloomery does not bring along what
// only experiments need.
const labPackage = "github.com/bloomery/bloomery/eval/lab/cmd/bloomery-lab"

// labCommand runs the program of the lab, which reads the flags and writes the help texts of its commands.
func (a *app) labCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lab [command]",
		Short: "Measure what the papers and our pages claim, and draw it",
		Long: `Run bloomery-lab, the program with the experiments: list names them, run prints their tables and draws their
plots, report writes pages of what they found, one a document, and costs measures times for bloomery plan.

bloomery-lab is in a module of its own. It is looked for beside bloomery and in PATH; in the checkout that bloomery was
built from or lies in, Go compiles it. Otherwise, get it with:

  go install ` + labPackage + `@latest`,
		Example: `  bloomery lab list
  bloomery lab run ph-late --out pictures
  bloomery lab report --quick --out report`,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			path, err := labProgram(c.Context())
			if err != nil {
				return err
			}
			return a.runProgram(c.Context(), path, args)
		},
		ValidArgsFunction: completeLab,
	}
}

// labProgram returns the path of bloomery-lab. It never takes a program or sources from the working folder, which may
// be somebody else's.
func labProgram(ctx context.Context) (string, error) {
	const name = "bloomery-lab"
	places := []string{name}
	if self, err := os.Executable(); err == nil {
		places = []string{filepath.Join(filepath.Dir(self), name), name}
	}
	for _, place := range places {
		if path, err := exec.LookPath(place); err == nil {
			return path, nil
		}
	}
	compiler, err := exec.LookPath("go")
	if dir := labSources(); dir != "" && err == nil {
		// With -n, go tool compiles the program into its cache and prints the path. go run would hide its exit code.
		c := exec.CommandContext(ctx, compiler, "tool", "-n", name)
		c.Dir, c.Stderr = dir, os.Stderr
		c.Env = append(os.Environ(), "PWD="+dir, "GOWORK="+filepath.Join(dir, "go.work"))
		out, err := c.Output()
		if err != nil {
			return "", fmt.Errorf("compiling %s in %s: %w", name, dir, err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	version := "latest"
	if v := cli.Version(); strings.HasPrefix(v, "v") && !strings.ContainsAny(v, "-+") {
		version = v
	}
	return "", cli.Advise(
		errors.New("bloomery-lab is neither beside bloomery nor in PATH"),
		"To get it: go install "+labPackage+"@"+version)
}

// labSources returns the folder of the lab in the checkout from which this program was built or in which it lies, or ""
// if there is none.
func labSources() string {
	var checkouts []string
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) { // not built with -trimpath
		checkouts = append(checkouts, filepath.Join(filepath.Dir(file), "..", ".."))
	}
	if self, err := os.Executable(); err == nil {
		checkouts = append(checkouts, filepath.Dir(self))
	}
	for _, dir := range checkouts {
		dir = filepath.Join(dir, "lab")
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
	}
	return ""
}

// runProgram runs a program with our standard input and output. The error has its exit code.
func (a *app) runProgram(ctx context.Context, path string, args []string) error {
	c := exec.CommandContext(ctx, path, args...)
	c.Stdin, c.Stdout, c.Stderr = a.stdin, a.stdout, a.stderr
	if out, ok := a.stdout.(*cli.Checked); ok {
		c.Stdout = out.Writer // a file or terminal itself, not a copy
	}
	c.Cancel = func() error {
		var end cli.Signalled
		switch {
		case !errors.As(context.Cause(ctx), &end):
			return c.Process.Kill()
		case end.Signal == os.Interrupt && cli.IsTerminal(a.stdin):
			return nil // the terminal has sent it to the program, too, and a second one would kill it
		}
		return c.Process.Signal(end.Signal)
	}
	err := c.Run()
	switch s := c.ProcessState; {
	case s != nil && s.Exited() && !s.Success():
		return cli.Exit(s.ExitCode())
	case s != nil && s.Success() && ctx.Err() != nil: // it was done when the signal came
		return nil
	}
	return err
}

// completeLab asks bloomery-lab for completions, unless it would have to be compiled.
func completeLab(c *cobra.Command, args []string, word string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	path, err := exec.LookPath("bloomery-lab")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out, err := exec.CommandContext(c.Context(), path, append(append([]string{"__complete"}, args...), word)...).Output()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	text, directive, _ := strings.Cut("\n"+strings.TrimSpace(string(out)), "\n:")
	var d int
	if _, err := fmt.Sscan(directive, &d); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return strings.Split(strings.TrimSpace(text), "\n"), cobra.ShellCompDirective(d)
}
