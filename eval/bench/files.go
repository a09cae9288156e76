package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/internal/container"
)

// fileName returns the name of the result's files without extension.
func (r Result) fileName() string {
	name := "bench-" + countText(r.Keys)
	if r.FPR != 0.01 {
		name += fmt.Sprintf("-fpr%g", r.FPR)
	}
	return name
}

// writeFiles writes page and plots into a folder, each completely or not at all, and then the README.md of the folder.
func (r Result) writeFiles(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files := map[string]func(io.Writer) error{
		".md": func(w io.Writer) error {
			r.writePage(w)
			return nil
		},
	}
	for _, p := range r.plots() {
		files[strings.TrimPrefix(p.Name, r.fileName())+".svg"] = func(w io.Writer) error { return p.Draw(w, "svg") }
	}
	for suffix, write := range files {
		if err := container.WriteAtomic(ctx, filepath.Join(dir, r.fileName()+suffix), write); err != nil {
			return err
		}
	}
	return writeIndex(ctx, dir)
}

// heading finds what the index says of a page: keys, rate, date and machine.
var heading = regexp.MustCompile(`^# (\S+) keys, target rate (\S+)\n\nMeasured on ([^:]+): (.+?), (?:commit \S+, )?in `)

// peerHeading finds what the index says of a page of peers in other languages: keys, languages, date and machine.
var peerHeading = regexp.MustCompile(
	`^# (\S+) keys, peers in ([^\n]+)\n\nMeasured on ([^:]+): (.+?), (?:commit \S+, )?in `)

// writeIndex writes README.md, the list of all pages in the folder, fewest keys first.
func writeIndex(ctx context.Context, dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "bench-*.md"))
	if err != nil {
		return err
	}
	type entry struct {
		keys  int
		fpr   float64
		cells []string
	}
	var all []entry
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found := heading.FindSubmatch(b)
		if found == nil {
			return fmt.Errorf("%s: no heading of a page", path)
		}
		keys, err := parseCount(string(found[1]))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fpr, err := parseRate(string(found[2]))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name := filepath.Base(path)
		cells := []string{
			string(found[1]), string(found[2]), string(found[3]), string(found[4]), fmt.Sprintf("[%s](%s)", name, name),
		}
		all = append(all, entry{keys, fpr, cells})
	}
	others, err := peerPages(dir)
	if err != nil {
		return err
	}
	_, noJobs := os.Stat(filepath.Join(dir, "jobs.md"))
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.keys, b.keys), cmp.Compare(b.fpr, a.fpr)) })
	return container.WriteAtomic(ctx, filepath.Join(dir, "README.md"), func(w io.Writer) error {
		fmt.Fprint(w, `# Our families compared with other libraries

Bits, build time, query time, memory and false-positive rate of every family and of other libraries, and the ratios of
ours to theirs, slower results first. All filters hold the same keys and run alternately in one process.

To write these pages and this list, run in `+"`"+`eval/bench/`+"`"+`:

    go run ./refresh                                            all of them, and the times of bloomery plan
    go run . --keys 1M,20M --fpr 1% --out ../../docs/results       these two; with --json it prints all numbers as JSON

`)
		t := cells{{"keys", "target rate", "measured on", "machine", "page"}}
		for _, e := range all {
			t = append(t, e.cells)
		}
		t.writeMarkdown(w, "---")
		if others != nil {
			fmt.Fprint(w, `
Filters of other languages, each side in a process of its own, measured in alternating rounds:

    go run . --keys 1M,10M --peers rust,java --out ../../docs/results

`)
			others.writeMarkdown(w, "---")
		}
		if noJobs == nil {
			fmt.Fprint(w, `
How many lines of code a user writes for common jobs, with Bloomery and with three other libraries: [jobs.md](jobs.md).
`)
		}
		return nil
	})
}
