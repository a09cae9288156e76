//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestStderrWithoutReader adds keys when no process reads standard error any more, as in 2>&1 | head -1. The keys must
// be added, and SIGPIPE must not end the process.
func TestStderrWithoutReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	mustRun(t, "a\n", "build", "-o", path, "--spec", "standard", "--capacity", "100")
	r, w, err := os.Pipe()
	must(t, err)
	defer w.Close()
	r.Close()
	for args, code := range map[string]int{"add": exitOK, "none": exitError} {
		cmd := exec.Command(os.Args[0])
		cmd.Args, cmd.Stderr = []string{"bloomery", args, path, "/dev/null"}, w
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%s: %v, want exit code %d", args, cmd.ProcessState, code)
		}
	}
}
