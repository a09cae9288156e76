package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
)

const page = `# 1M keys

| filter | build | present |
|---|---:|---:|
| fuse | 58.3 (57.0–59.1) | 9.70 / 6.04 = 1.60 |
| map | – | 70 |

## Other

| filter | build |
|---|---:|
| fuse | 1 |
`

// TestFigures reads a page and a table of costs, and compares them with changed ones.
func TestFigures(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read := func() figures {
		f, err := figuresOf(dir, []string{"*.md", "costs.json"})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	write("a.md", page)
	write("costs.json", `{"go": "go1", "keyed_ns": 11, "kinds": {"fuse": [{"keys": 1000, "fpr": 0.01, "build_ns": 40}]}}`)
	before := read()
	if len(before) != 6 || before["a.md, 1M keys, fuse, present"] != 9.7 || before["a.md, Other, fuse, build"] != 1 ||
		before["costs.json, kinds, fuse, 1000 keys at 0.01, build_ns"] != 40 {
		t.Fatalf("%v", before)
	}
	write("a.md", strings.ReplaceAll(strings.ReplaceAll(page, "58.3", "62"), "| 70 |", "| 35 |"))
	write("costs.json", `{"kinds": {"fuse": [{"keys": 1000, "fpr": 0.01, "build_ns": 50}]}}`)
	want := []string{
		"a.md, 1M keys, map, present: 35, was 70",
		"costs.json, kinds, fuse, 1000 keys at 0.01, build_ns: 50, was 40",
		"costs.json, keyed_ns: is gone",
	}
	if got := moved(before, read(), 0.1); !slices.Equal(got, want) {
		t.Errorf("moved: %q, want %q", got, want)
	}
}

// TestSteps checks that the files of the steps exist, and that an unknown step is an error.
func TestSteps(t *testing.T) {
	for _, s := range steps {
		f, err := figuresOf("../../..", s.files)
		if err != nil || len(f) == 0 {
			t.Errorf("%s: %d figures in %q, %v", s.name, len(f), s.files, err)
		}
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"--only", "other"}, &out, &out); err == nil ||
		!strings.Contains(err.Error(), "costs, 1M") {
		t.Errorf("an unknown step: %v", err)
	}
}

// TestPagesAgree compares the times of the planner with the times of the page for a million keys. The machines may
// differ, so it divides the times by the median of their ratios.
func TestPagesAgree(t *testing.T) {
	page, err := figuresOf("../../..", []string{results + "/bench-1M.md"})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{
		"standard": "standard", "blocked": "blocked", "blocked-split": "blocked(layout=split)", "fuse": "fuse",
		"ribbon": "ribbon", "rankindexed": "rankindexed", "rankindexed-fast": "rankindexed(bucket=512,fast=1)",
		"counting": "counting", "partitioned": "partitioned", "blockpartitioned": "blockpartitioned",
		"twochoice": "twochoice",
	}
	for column, most := range map[string]float64{"present": 1.5, "absent": 1.5, "build": 2} {
		ratios := map[string]float64{}
		for row, kind := range rows {
			spec, err := filter.ParseSpec(kind)
			if err != nil {
				t.Fatal(err)
			}
			at, ok := families.Costs().At(spec, 1_000_000, 0.01)
			shown := page["bench-1M.md, Filters, "+row+", "+column]
			planned := map[string]float64{"present": at.Present, "absent": at.Absent, "build": at.Build}[column]
			if !ok || shown == 0 {
				t.Errorf("%s, %s: %g on the page, %g in the table of costs", row, column, shown, planned)
				continue
			}
			ratios[row] = planned / shown
		}
		middle := slices.Sorted(maps.Values(ratios))[len(ratios)/2]
		for row, r := range ratios {
			if r/middle > most || middle/r > most {
				t.Errorf("%s, %s: the planner's time is %.2f of that on the page, and %.2f for half of the families",
					row, column, r, middle)
			}
		}
	}
}
