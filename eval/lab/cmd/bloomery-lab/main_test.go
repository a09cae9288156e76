package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bloomery-lab": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

// TestInterruptedReport interrupts a report before its first experiment ends. The pages must remain and state what is
// missing.
func TestInterruptedReport(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr strings.Builder
	code := run(ctx, []string{"report", "--quick", "--out", dir, "ph-anneal", "ph-late"}, nil, os.Stdout, &stderr)
	if code != cli.ExitError || !strings.Contains(stderr.String(), "interrupted; 0 of 2 experiments are in "+dir) {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
	for _, name := range []string{"index.html", "partitioned-hashing.html"} {
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(page), "Missing: <code>ph-late</code>, <code>ph-anneal</code>.") ||
			!strings.HasSuffix(string(page), "</html>\n") {
			t.Errorf("%s: %v, %d bytes", name, err, len(page))
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}

// full is a writer on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFullOutput writes standard output, including help, to a full disk.
func TestFullOutput(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--help"}, {"list"}, {"list", "--json"}, {"run", "ph-anneal", "--quick", "--trials", "1"},
	} {
		var stderr strings.Builder
		code := run(t.Context(), args, nil, full{}, &stderr)
		if code != cli.ExitError || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit code %d, %q", args, code, stderr.String())
		}
	}
}

// TestExamples runs every example of every help text. Examples that do not end within a second are interrupted. They
// must still be running then, without an error.
func TestExamples(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt that one process can send another")
	}
	n := 0
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		if c.Runnable() && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			n++
			runExample(t, strings.TrimSpace(line))
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each((&app{}).rootCommand())
	if n < 8 {
		t.Errorf("%d examples", n)
	}
}

func runExample(t *testing.T, line string) {
	for wait := time.Second; ; wait *= 4 {
		var stderr strings.Builder
		c := exec.Command("sh", "-c", "exec "+line)
		c.Dir, c.Stderr = t.TempDir(), &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(wait, func() { _ = c.Process.Signal(os.Interrupt) })
		err := c.Wait()
		interrupted := !timer.Stop()
		switch {
		case err == nil, interrupted && c.ProcessState.ExitCode() == 130 && strings.Contains(stderr.String(), "interrupted"):
			return
		case interrupted && wait < 20*time.Second: // on a slow machine the program may not have started after a second
			continue
		}
		t.Fatalf("%s: %v\n%s", line, err, stderr.String())
	}
}
