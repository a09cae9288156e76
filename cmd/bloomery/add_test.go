package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// adding is a running command add that has read the filter and waits for further keys on standard input.
type adding struct {
	in     *io.PipeWriter
	stderr bytes.Buffer
	code   chan int
}

func startAdding(t *testing.T, path, key string) *adding {
	r, w := io.Pipe()
	a := &adding{in: w, code: make(chan int, 1)}
	go func() {
		code := run(t.Context(), []string{"add", path}, r, io.Discard, &a.stderr)
		r.Close() // ends the write below if the command failed before it read
		a.code <- code
	}()
	if _, err := io.WriteString(w, key+"\n"); err != nil { // returns when the keys are being read
		t.Fatal(err)
	}
	return a
}

func TestConcurrentAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	mustRun(t, "first\n", "build", "-o", path, "--needs", "add", "--bytes", "1000")
	a := startAdding(t, path, "a")
	second := make(chan int, 1)
	go func() {
		code, _ := runOn(t, "b\n", "add", path)
		second <- code
	}()
	waits := false
	select {
	case code := <-second:
		second <- code
	case <-time.After(300 * time.Millisecond):
		waits = true
	}
	a.in.Close()
	first, want := <-a.code, "first\na\nb\n"
	if !waits { // without locks, the first must notice
		want = "first\nb\n"
	}
	if code := <-second; code != exitOK || (first == exitOK) != waits || runtime.GOOS == "linux" && !waits {
		t.Errorf("exit codes %d and %d, the second waited: %t: %s", first, code, waits, a.stderr.String())
	}
	if _, held := runOn(t, "first\na\nb\n", "check", path); held != want {
		t.Errorf("the file holds %q, want %q", held, want)
	}
}

// TestAddToReplaced replaces the file by another process while keys are added.
func TestAddToReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	mustRun(t, "first\n", "build", "-o", path, "--needs", "add", "--bytes", "1000")
	a := startAdding(t, path, "a")
	mustRun(t, "other\n", "build", "-o", path, "--needs", "add", "--bytes", "500")
	want := mustRead(t, path)
	a.in.Close()
	if code := <-a.code; code != exitError || !strings.Contains(a.stderr.String(), "run the command again") {
		t.Errorf("exit code %d: %s", code, a.stderr.String())
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
		t.Error("the file was replaced")
	}
}
