package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFileChangedInPlace overwrites or truncates a mapped filter file while a command waits for its next key. The
// command must exit with code 2 and give advice, and must not crash.
func TestFileChangedInPlace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are read there, not mapped")
	}
	const values = "rankindexed(capacity=2000000,value_bits=3)"
	for what, change := range map[string]func(path string, file []byte) error{
		"overwritten": func(path string, file []byte) error {
			return os.WriteFile(path, bytes.Repeat([]byte{0xa5}, len(file)), 0o600)
		},
		"truncated": func(path string, _ []byte) error { return os.Truncate(path, 0) },
		"cut":       func(path string, file []byte) error { return os.Truncate(path, int64(len(file)/2)) },
	} {
		for _, c := range []struct {
			spec string
			args []string
		}{
			{"standard(bytes=2000000)", []string{"check"}}, {"standard(bytes=2000000)", []string{"check", "--json"}},
			{"standard(bytes=2000000)", []string{"check", "-c"}}, {"standard(bytes=2000000)", []string{"check", "-v"}},
			{"counting(bytes=2000000)", []string{"count"}}, {values, []string{"get"}},
		} {
			t.Run(what+"/"+strings.Join(c.args, " "), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "f.bloom")
				mustRun(t, "a\nb\n", "build", "-o", path, "--spec", c.spec)
				file, err := os.ReadFile(path)
				if err != nil || len(file) < 1<<20 {
					t.Fatalf("%d bytes, which are not mapped: %v", len(file), err)
				}
				code, stderr := runWhile(t, append(c.args, path), func() error { return change(path, file) })
				if code != exitError || !strings.Contains(stderr, "changed in place") || !strings.Contains(stderr, "Answers may be wrong") ||
					!strings.Contains(stderr, "rename") {
					t.Errorf("exit code %d, %s", code, stderr)
				}
			})
		}
	}
}

// TestFileReplaced replaces a mapped filter file by rename while check waits, and checks that there is no error.
func TestFileReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	build := func() error {
		if code, _ := runOn(t, "a\n", "build", "-o", path, "--spec", "standard(bytes=2000000)"); code != exitOK {
			return fmt.Errorf("build: exit code %d", code)
		}
		return nil
	}
	must(t, build())
	if code, stderr := runWhile(t, []string{"check", path}, build); code != exitOK || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// runWhile runs a command, gives it a key, calls change, gives it many more keys, and returns its exit code and
// messages.
func runWhile(t *testing.T, args []string, change func() error) (int, string) {
	t.Helper()
	in, keys := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() { code <- run(t.Context(), args, in, io.Discard, &stderr); in.Close() }()
	if _, err := io.WriteString(keys, "a\n"); err != nil { // returns when the file is open and keys are being read
		t.Fatal(err)
	}
	must(t, change())
	for i := range 2000 {
		if _, err := fmt.Fprintf(keys, "key-%d\n", i); err != nil {
			break // the command has ended already
		}
	}
	keys.Close()
	return <-code, stderr.String()
}
