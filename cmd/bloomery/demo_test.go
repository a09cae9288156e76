package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// runDemo returns the output of bloomery demo. Nothing may be printed to stderr, because it is not a terminal.
func runDemo(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), append([]string{"demo"}, args...), strings.NewReader(""), &stdout, &stderr)
	if code != exitOK || stderr.Len() > 0 {
		t.Fatalf("demo %q: exit code %d, %s", args, code, &stderr)
	}
	return stdout.String()
}

// TestDemoText checks the length of the short demo, and that it shows the three answers and five families.
func TestDemoText(t *testing.T) {
	text := runDemo(t)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 12 {
		t.Errorf("%d lines, want at most 12", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}

	for _, want := range []string{" as a filter at 1%\n", "yopmail.com  yes ", "gmail.com    no ", "yes  a false positive", "  ribbon ", "  fuse ",
		"  standard ", "  blocked ", "  rankindexed "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the demo:\n%s", want, text)
		}
	}
	if lines[len(lines)-1] != demoNext(os.Args[0]) {
		t.Errorf("the demo ends with %q", lines[len(lines)-1])
	}
}

// TestDemoAll checks the width of the large table, and the JSON.
func TestDemoAll(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text := runDemo(t, "--all")
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}

	var report struct {
		Rows []struct {
			Spec    string
			Missing *int     `json:"false_negatives"`
			Prior   *float64 `json:"fpr_prior"`
			Rate    *float64 `json:"fpr_observed"`
		}
	}
	must(t, json.Unmarshal([]byte(runDemo(t, "--json")), &report))
	for i, row := range report.Rows {
		if row.Spec != demoSpecs[i] || row.Missing == nil || *row.Missing > 0 || row.Prior == nil || row.Rate == nil {
			t.Errorf("row %d: %+v", i, row)
		}
		if !strings.Contains(text, row.Spec+" ") {
			t.Errorf("no %s in the table", row.Spec)
		}
	}
	if len(report.Rows) != len(demoSpecs) {
		t.Errorf("%d rows", len(report.Rows))
	}
}

// TestDemoNext runs the command that the demo suggests to users of go run, in the root of the module. Its output goes
// to a temporary folder.
func TestDemoNext(t *testing.T) {
	output := filepath.Join(t.TempDir(), "out.bloom")
	next := demoNext("/tmp/go-build1/b001/exe/bloomery")
	words := strings.Fields(next)
	at := slices.Index(words, "out.bloom")
	if at < 0 {
		t.Fatalf("%s does not write out.bloom", next)
	}
	words[at] = output

	c := exec.CommandContext(t.Context(), words[0], words[1:]...)
	c.Dir = filepath.Join("..", "..")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "out.bloom: 133604 keys") {
		t.Errorf("%s: %v\n%s", next, err, out)
	}
	if _, err := os.Stat(output); err != nil {
		t.Error(err)
	}

	if installed := demoNext("/home/user/go/bin/bloomery"); !strings.HasPrefix(installed, "bloomery build ") {
		t.Errorf("an installed command suggests %s", installed)
	}
}
