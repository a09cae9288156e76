// Command refresh measures all figures of the documentation again and lists the figures that changed: the times of
// bloomery plan (internal/families), and the pages in docs/measured. It takes half an hour and needs an otherwise idle
// machine.
//
//	cd eval/bench && go run ./refresh              everything
//	cd eval/bench && go run ./refresh --only peers one step
//
// Afterwards run go test in the module of the repository and in eval/bench: TestPage of package plan and TestPagesAgree
// compare the documents with the figures. go test ./plan -run TestPage -update writes the table of
// docs/families/README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// step is a command and the files that it writes, below the repository.
type step struct {
	name    string
	minutes int
	dir     string
	args    []string
	files   []string // patterns
}

// results is the folder of the pages, below the repository.
const results = "docs/measured"

var steps = []step{
	{"costs", 20, ".", []string{"go", "generate", "./internal/families"}, []string{"internal/families/costs.json"}},
	{"1M", 2, "eval/bench", pages("--keys", "1M"), []string{results + "/bench-1M.md"}},
	{"peers", 5, "eval/bench", pages("--keys", "1M", "--peers", "rust,java"), []string{results + "/peers-1M.md"}},
	{"plan", 1, ".", []string{"go", "test", "./plan", "-run", "TestPage", "-update"}, []string{"docs/families/README.md"}},
}

func pages(args ...string) []string {
	return slices.Concat([]string{"go", "run", "."}, args, []string{"--out", "../../" + results})
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "refresh:", err)
		os.Exit(1)
	}
}

// run runs the steps that args name and writes the changed figures to w.
func run(ctx context.Context, args []string, w, wErr io.Writer) error {
	flags := flag.NewFlagSet("refresh", flag.ContinueOnError)
	flags.SetOutput(wErr)
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	only := flags.String("only", "", "run this step only: "+strings.Join(names, ", "))
	root := flags.String("root", "../..", "folder of the repository")
	share := flags.Float64("moved", 0.1, "print the figures that moved by more than this share")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *only != "" && !slices.Contains(names, *only) {
		return fmt.Errorf("--only %s: want one of %s", *only, strings.Join(names, ", "))
	}
	for _, s := range steps {
		if *only != "" && s.name != *only {
			continue
		}
		fmt.Fprintf(wErr, "%s: about %d min: %s\n", s.name, s.minutes, strings.Join(s.args, " "))
		before, err := figuresOf(*root, s.files)
		if err != nil {
			return err
		}
		start := time.Now()
		if err := s.run(ctx, *root, wErr); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		after, err := figuresOf(*root, s.files)
		if err != nil {
			return err
		}
		lines := moved(before, after, *share)
		fmt.Fprintf(w, "%s: %d figures, %d moved by more than %g%%, in %s\n",
			s.name, len(after), len(lines), 100**share, time.Since(start).Round(time.Second))
		for _, l := range lines {
			fmt.Fprintln(w, "  "+l)
		}
	}
	return nil
}

// run runs the command. Ctrl-C interrupts the command; files that it has not written yet remain unchanged.
func (s step) run(ctx context.Context, root string, wErr io.Writer) error {
	c := exec.CommandContext(ctx, s.args[0], s.args[1:]...)
	c.Dir = filepath.Join(root, s.dir)
	c.Stdout, c.Stderr = io.Discard, wErr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	return c.Run()
}
