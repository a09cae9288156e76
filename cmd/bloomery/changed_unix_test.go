//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestFileChangedWhileWaiting truncates the mapped filter of commands that wait for a pipe, or overwrites it with
// another valid filter of the same size, as cp does: verify waits for members, estimate for the second filter. The
// commands must exit with code 2.
func TestFileChangedWhileWaiting(t *testing.T) {
	dir := t.TempDir()
	live, next := filepath.Join(dir, "live.bloom"), filepath.Join(dir, "next.bloom")
	build := func(path, keys string) []byte {
		t.Helper()
		mustRun(t, keys, "build", "-o", path, "--spec", "standard(bytes=2000000,k=3)")
		b := mustRead(t, path)
		return b
	}
	later := build(next, "c\nd\n")
	for what, change := range map[string]func() error{
		"overwritten": func() error { return os.WriteFile(live, later, 0o600) },
		"truncated":   func() error { return os.Truncate(live, 0) },
	} {
		for name, c := range map[string]struct {
			args  []string // followed by the name of the pipe
			input []byte
		}{
			"verify":   {[]string{"verify", live, "--random", "1000", "--members"}, []byte("a\nb\n")},
			"estimate": {[]string{"estimate", live}, later},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				build(live, "a\nb\n")
				long := time.Now().Add(-time.Minute) // old enough, since some systems record times in steps of 10 ms
				must(t, os.Chtimes(live, long, long))
				pipe := filepath.Join(t.TempDir(), "pipe")
				must(t, syscall.Mkfifo(pipe, 0o600))
				var stderr bytes.Buffer
				code := make(chan int, 1)
				go func() { code <- run(t.Context(), append(c.args, pipe), nil, io.Discard, &stderr) }()
				w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the command opens it
				must(t, err)
				must(t, change())
				_, _ = w.Write(c.input)
				_ = w.Close()
				if got := <-code; got != exitError || !strings.Contains(stderr.String(), "changed in place") {
					t.Errorf("exit code %d, %s", got, stderr.String())
				}
			})
		}
	}
}

// TestFileChangedAtAnyTime repeatedly overwrites a filter in place with two filters in turn while commands read it.
// Each run must print the result for one of the two filters or exit with code 2. A mixture or a crash is an error.
func TestFileChangedAtAnyTime(t *testing.T) {
	dir := t.TempDir()
	path, other, output := filepath.Join(dir, "live.bloom"), filepath.Join(dir, "other.bloom"), filepath.Join(dir, "out.bloom")
	var files [2][]byte
	for i, keys := range []string{"a\nb\n", "c\nd\ne\n"} {
		mustRun(t, keys, "build", "-o", path, "--spec", "standard(bytes=2000000,k=3)")
		var err error
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	mustWrite(t, other, files[0])
	commands := [][]string{
		{"info", path}, {"info", path, other}, {"estimate", path}, {"estimate", other, path},
		{"merge", "-q", "-o", output, path, other}, {"merge", "-q", "-o", output, other, path},
		{"intersect", "-q", "-o", output, other, path},
	}
	// result returns the exit code and all output of a command.
	result := func(args []string) (int, string) {
		_ = os.Remove(output)
		var stdout bytes.Buffer
		code := run(t.Context(), args, nil, &stdout, io.Discard)
		written, _ := os.ReadFile(output)
		return code, stdout.String() + string(written)
	}
	var want [2][]string
	for i, file := range files {
		mustWrite(t, path, file)
		for _, args := range commands {
			_, text := result(args)
			want[i] = append(want[i], text)
		}
	}
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; !stop.Load(); i++ {
			if err := os.WriteFile(path, files[i%2], 0o600); err != nil { // truncates it first
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(i%5) * 2 * time.Millisecond)
		}
	}()
	defer func() { stop.Store(true); <-done }()
	good, refused := 0, 0
	start := time.Now()
	for round := 0; round < 40 || (good == 0 || refused == 0) && time.Since(start) < time.Minute; round++ {
		for i, args := range commands {
			code, text := result(args)
			switch {
			case code == exitOK && (text == want[0][i] || text == want[1][i]):
				good++
			case code == exitError && text == "":
				refused++
			case code == exitError && args[0] == "info" && len(args) == 3: // info read the other file
				refused++
			default:
				t.Errorf("%v: exit code %d, %.200q", args, code, text)
			}
		}
	}
	t.Logf("%d runs had an answer, %d were refused", good, refused)
	if good == 0 || refused == 0 {
		t.Errorf("%d runs had an answer, %d were refused: too few to tell", good, refused)
	}
}

// TestAllowPipe reads the list of build --allow from a named pipe whose writer has ended when the keys are read.
func TestAllowPipe(t *testing.T) {
	dir := t.TempDir()
	list, keys := filepath.Join(dir, "list"), filepath.Join(dir, "keys")
	must(t, syscall.Mkfifo(list, 0o600))
	mustWrite(t, keys, "a\nb\n")
	written := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(list, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.WriteString("c\nd\n")
			err = errors.Join(err, w.Close(), os.Remove(list)) // a second open fails
		}
		written <- err
	}()
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"build", "-o", filepath.Join(dir, "f.bloom"), "--allow", list, keys}, nil,
		io.Discard, &stderr)
	if err := <-written; err != nil || code != exitOK {
		t.Errorf("exit code %d, %v: %s", code, err, stderr.String())
	}
}
