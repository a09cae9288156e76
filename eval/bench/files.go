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

func (r Result) files() map[string]func(io.Writer) error {
	files := map[string]func(io.Writer) error{".md": r.writePage}
	for _, p := range r.plots() {
		files[strings.TrimPrefix(p.Name, r.fileName())+".svg"] = func(w io.Writer) error { return p.Draw(w, "svg") }
	}
	return files
}

// writeFiles writes the files of a result into a folder, each completely or not at all, and then the README.md of the
// folder.
func writeFiles(ctx context.Context, dir string, r output) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for suffix, write := range r.files() {
		if err := container.WriteAtomic(ctx, filepath.Join(dir, r.fileName()+suffix), write); err != nil {
			return err
		}
	}
	return writeIndex(ctx, dir)
}

// heading matches the parts of a page that the index shows: keys, the target rate or the languages of peers, date and
// machine.
var heading = regexp.MustCompile(
	`^# (\S+) keys, (?:target rate|peers in) ([^\n]+)\n\nMeasured on ([^:]+): (.+?), (?:commit \S+, )?in `)

// pages returns the table of the pages of a folder whose names have the given form, sorted by increasing keys and
// decreasing rate. second is the name of the second column.
func pages(dir, form, second string) (cells, error) {
	paths, err := filepath.Glob(filepath.Join(dir, form))
	if err != nil {
		return nil, err
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
			return nil, err
		}
		found := heading.FindStringSubmatch(string(b))
		if found == nil {
			return nil, fmt.Errorf("%s: no heading of a page", path)
		}
		keys, err := parseCount(found[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		fpr, _ := parseRate(found[2]) // 0 if the column contains languages
		name := filepath.Base(path)
		all = append(all, entry{keys, fpr, append(found[1:], fmt.Sprintf("[%s](%s)", name, name))})
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.keys, b.keys), cmp.Compare(b.fpr, a.fpr))
	})
	t := cells{{"keys", second, "measured on", "machine", "page"}}
	for _, e := range all {
		t = append(t, e.cells)
	}
	return t, nil
}

// writeIndex writes README.md, the list of all pages in the folder.
func writeIndex(ctx context.Context, dir string) error {
	ours, err := pages(dir, "bench-*.md", "target rate")
	if err != nil {
		return err
	}
	others, err := pages(dir, "peers-*.md", "languages")
	if err != nil {
		return err
	}
	_, noJobs := os.Stat(filepath.Join(dir, "jobs.md"))
	return container.WriteAtomic(ctx, filepath.Join(dir, "README.md"), func(w io.Writer) error {
		fmt.Fprint(w, `# Our families compared with other libraries

Bits, build time, query time, memory and false-positive rate of every family and of other libraries, and the ratios of
ours to theirs, slower results first. All filters hold the same keys and run alternately in one process.

To write these pages and this list, run in `+"`"+`eval/bench/`+"`"+`:

    go run ./refresh                       all of them, and the times of bloomery plan
    go run . --keys 20M --fpr 0.1%         other numbers of keys and other rates, printed; with --json as JSON

`)
		ours.writeMarkdown(w, "---")
		if len(others) > 1 {
			fmt.Fprint(w, `
Filters of other languages, each side in a process of its own, measured in alternating rounds:

    go run . --keys 10M --peers rust,java

`)
			others.writeMarkdown(w, "---")
		}
		if noJobs == nil {
			fmt.Fprint(w, `
How many lines of code a user writes for common jobs, with Bloomery and with three other libraries: [jobs.md](jobs.md).

Other measurements: [features](features.md) of libraries for Go, [speed](speed.md) of a query, [scale](scale.md) of
builds on clusters, [cache admission](admission.md).
`)
		}
		return nil
	})
}
