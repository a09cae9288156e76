//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/filtertest"
)

// outcome is the result of one run of a command line.
type outcome struct {
	code           int
	stdout, stderr string
	tree           map[string]string // kind and content of every file, by its path
}

// names returns the paths of the files.
func (o outcome) names() []string { return slices.Sorted(maps.Keys(o.tree)) }

// ask runs a line in a shell in dir. The line must end within a minute without a crash.
func ask(t *testing.T, bin, dir, line string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	var stdout, stderr bytes.Buffer
	c := shell(ctx, t, bin, dir, line)
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Fatalf("%s: still running after a minute", line)
	case err != nil && !errors.As(err, &exit):
		t.Fatalf("%s: %v", line, err)
	case strings.Contains(stderr.String(), "goroutine "):
		t.Fatalf("%s: %s", line, stderr.String())
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String(), treeOf(t, dir)}
}

// redirected matches the end of a line that redirects its output to a file.
var redirected = regexp.MustCompile(` > \S+$`)

// searches matches lines that run for seconds and write like other lines.
var searches = regexp.MustCompile(`--effort max|--spec partitioned`)

// largeBytes and largeCapacity match flags for large outputs, which would be copied and hashed for every line of a
// folder.
var (
	largeBytes    = regexp.MustCompile(`(--bytes \d+)Mi`)
	largeCapacity = regexp.MustCompile(`(--capacity \d+)M`)
)

// outputOption matches a flag with the name of an output.
var outputOption = regexp.MustCompile(`( -o| --out| --plot) \S+`)

// positionalOutputs maps commands to lines with an output that is not named by a flag, and to lines for outputs without
// an example.
var positionalOutputs = map[string][]string{
	"bloomery publish": {"bloomery publish - blocked.bloom", "bloomery publish - blocked.bloom --sign release.key",
		"bloomery publish site blocked.bloom --sign release.key --state -"},
	"bloomery follow":      {"bloomery follow ./published -o - --once"},
	"bloomery add":         {"echo new | bloomery add -"},
	"bloomery dedup":       {"bloomery dedup --state - log.txt", "bloomery dedup --count --state - log.txt"},
	"bloomery shard range": {"bloomery shard range - --all"}, "bloomery shard build": {"bloomery shard build - --all"},
	"bloomery shard finish": {"bloomery shard finish -"}, "bloomery patch": {"bloomery patch - tuesday.delta -o -"},
	"bloomery exact update": {"bloomery exact update - --members revoked.txt --universe issued.txt"},
	"bloomery trim":         {"bloomery trim -"}, "bloomery optimize": {"bloomery optimize - --keys blocklist.txt"},
}

// TestOutputs runs every example of every command, in a copy of its folder, with outputs that cannot be written.
// Without -long, it runs a third of the pairs of an example and one of the first three outputs. Large outputs are made
// smaller, since each line copies and hashes the whole folder.
//
//   - Standard output full: exit code 2 if something is printed there.
//   - Standard output closed: Go opens /dev/null in its place, so that the work is the same; but nothing is remembered
//     as printed.
//   - Standard error full: the exit code, the files and the answers are the same.
//   - An output named "-": standard output or an error, never a file or folder of that name.
func TestOutputs(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here: ", err)
	}
	bin, inputs := exampleBin(t), map[string][]byte{}
	for name, content := range exampleInputs {
		inputs[name] = content(t)
	}

	for path, c := range allCommands((&app{}).rootCommand()) {
		if c.Example == "" {
			continue
		}
		t.Run(strings.ReplaceAll(path, " ", "_"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			all := exampleSetup[path] + c.Example + strings.Join(positionalOutputs[path], "")
			for name, content := range inputs { // do not copy files that no line names
				if !strings.Contains(all, name) && !strings.HasPrefix(name, "revoked-") {
					continue
				}
				mustWrite(t, filepath.Join(dir, name), content)
			}
			if setup := exampleSetup[path]; setup != "" {
				runExample(t, bin, dir, setup)
			}

			runs := filtertest.Third(t, *long)
			lines := exampleLines(strings.ReplaceAll(c.Example, " && ", "\n"))
			for _, line := range lines {
				line = redirected.ReplaceAllString(strings.TrimSpace(line), "")
				line = largeBytes.ReplaceAllString(line, "${1}Ki")
				line = largeCapacity.ReplaceAllString(line, "${1}0k")
				switch {
				case line == "" || line == "bloomery demo" || slices.Contains(longExamples, line):
				case searches.MatchString(line): // run it only for the lines that follow
					ask(t, bin, dir, line)
				default:
					tryOutputs(t, runs, bin, dir, line)
				}
			}
			for _, line := range positionalOutputs[path] {
				tryDash(t, bin, dir, line)
			}
		})
	}
}

// tryOutputs runs a line with each output that cannot be written, each time in a new copy of dir. Then it runs the
// unchanged line in dir and compares the results.
func tryOutputs(t *testing.T, runs func() bool, bin, dir, line string) {
	t.Helper()
	before := treeOf(t, dir)
	bad := map[string]outcome{}
	for _, end := range []string{">&-", ">/dev/full", "2>/dev/full"} {
		if runs() {
			bad[end] = ask(t, bin, copyOf(t, dir), line+" "+end)
		}
	}
	if outputOption.MatchString(line) {
		tryDash(t, bin, dir, outputOption.ReplaceAllString(line, "$1 -"))
	}
	good := ask(t, bin, dir, line)
	if good.code > exitNo {
		t.Fatalf("%s: exit code %d, %s", line, good.code, good.stderr)
	}

	remembers := strings.Contains(line, "--state") && good.stdout != ""
	if got, ok := bad[">/dev/full"]; ok && good.stdout != "" {
		if got.code != exitError || got.stderr == "" || remembers && got.tree["seen.state"] != before["seen.state"] {
			t.Errorf("%s >/dev/full: exit code %d, %q, changed %q", line, got.code, got.stderr, differing(before, got.tree))
		}
	}
	switch got, ok := bad[">&-"]; {
	case !ok:
	case remembers:
		if got.code != exitError || !maps.Equal(got.tree, before) {
			t.Errorf("%s >&-: exit code %d, changed %q", line, got.code, differing(before, got.tree))
		}
	case got.code != good.code || !slices.Equal(got.names(), good.names()):
		t.Errorf("%s >&-: exit code %d, files %q", line, got.code, differing(good.tree, got.tree))
	}
	got, ok := bad["2>/dev/full"]
	if !ok {
		return
	}
	if got.code != good.code || len(got.stdout) != len(good.stdout) || !slices.Equal(got.names(), good.names()) {
		t.Errorf("%s 2>/dev/full: exit code %d, printed %q, files %q; without that: %d, %q", line, got.code, got.stdout,
			differing(good.tree, got.tree), good.code, good.stdout)
	}
}

// tryDash runs a line whose output is "-" in a copy of dir.
func tryDash(t *testing.T, bin, dir, line string) {
	t.Helper()
	got := ask(t, bin, copyOf(t, dir), line)
	for _, name := range got.names() {
		if first, _, _ := strings.Cut(name, "/"); strings.HasPrefix(first, "-") {
			t.Errorf("%s: exit code %d, and made %s", line, got.code, name)
		}
	}
	if strings.Contains(got.stdout, "PRIVATE") || got.code == exitOK && got.stdout == "" {
		t.Errorf("%s: exit code %d, printed %q", line, got.code, got.stdout)
	}
}

// differing returns the paths that are in only one of two trees or differ.
func differing(a, b map[string]string) (names []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	return names
}

// copyOf returns a copy of a folder.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}
