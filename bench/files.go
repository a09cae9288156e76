package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/container"
)

// fileName returns the name of the result's files without extension.
func (r Result) fileName() string {
	name := "bench-" + countText(r.Keys)
	if r.FPR != 0.01 {
		name += fmt.Sprintf("-fpr%g", r.FPR)
	}
	return name
}

// writeFiles writes JSON, page and plots into a folder, each completely or not at all, and then the README.md of the
// folder.
func (r Result) writeFiles(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files := map[string]func(io.Writer) error{
		".json": func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", " ")
			return e.Encode(r)
		},
		".md": func(w io.Writer) error {
			r.writePage(w, r.fileName())
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

// writeIndex writes README.md, the list of all results with a JSON file in the folder, fewest keys first.
func writeIndex(ctx context.Context, dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "bench-*.json"))
	if err != nil {
		return err
	}
	var all []Result
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var r Result
		if err := json.Unmarshal(b, &r); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if name := strings.TrimSuffix(filepath.Base(path), ".json"); name == r.fileName() {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Result) int { return cmp.Or(cmp.Compare(a.Keys, b.Keys), cmp.Compare(b.FPR, a.FPR)) })
	return container.WriteAtomic(ctx, filepath.Join(dir, "README.md"), func(w io.Writer) error {
		fmt.Fprint(w, `# Our families compared with other libraries

Bits, build time, query time, memory and false-positive rate of every family and of other libraries, and the ratios of
ours to theirs, slower results first. All filters hold the same keys and run alternately in one process.

To write these pages and this list, run in `+"`"+`bench/`+"`"+`:

    go run . --keys 1M,20M --fpr 1% --out ../docs/results

`)
		t := cells{{"keys", "target rate", "measured on", "machine", "page", "numbers"}}
		for _, r := range all {
			name := r.fileName()
			t = append(t, []string{
				countText(r.Keys), rateText(r.FPR), r.Date, fmt.Sprintf("%s, %d cores, %s", r.Machine, r.Cores, r.Go),
				fmt.Sprintf("[%s.md](%s.md)", name, name), fmt.Sprintf("[%s.json](%s.json)", name, name),
			})
		}
		t.writeMarkdown(w, "---")
		return nil
	})
}
