package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestFullCounting builds a counting filter, the only kind that one key can fill, from many copies of one key.
func TestFullCounting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	keys := strings.Repeat("same\n", 5000)
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"build", "-o", path, "--spec", "rankindexed", "--counting"}, strings.NewReader(keys), io.Discard, &stderr)
	if _, err := os.Stat(path); code != exitError || err == nil || !strings.Contains(stderr.String(), "leave out --counting") {
		t.Errorf("exit code %d, %v, %s", code, err, stderr.String())
	}
	if code, _ := runOn(t, keys, "build", "-o", path, "--spec", "rankindexed"); code != exitOK {
		t.Errorf("without --counting: exit code %d", code)
	}
}

// TestInterruptedChange interrupts each command that changes a file, and checks that the file is unchanged.
func TestInterruptedChange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.bloom")
	mustRun(t, "a\nb\n", "build", "-o", path, "--spec", "rankindexed", "--value-bits", "3")
	before := mustRead(t, path)
	for _, args := range [][]string{{"add", path}, {"remove", path}, {"put", path}, {"trim", path}, {"trim", path, "-o", filepath.Join(dir, "other")}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var stderr bytes.Buffer
		if code := run(ctx, args, strings.NewReader("a\t1\n"), io.Discard, &stderr); code != exitError || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file is another one")
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// TestChangesWait changes a file while another process adds to it.
func TestChangesWait(t *testing.T) {
	for what, want := range map[string]string{"remove": "first\n", "put": "first\na\n", "trim": "first\na\n"} {
		path := filepath.Join(t.TempDir(), "f.bloom")
		mustRun(t, "first\n", "build", "-o", path, "--spec", "rankindexed", "--capacity", "100", "--value-bits", "3")
		a := startAdding(t, path, "a")
		second := make(chan int, 1)
		go func() {
			code, _ := runOn(t, map[string]string{"remove": "a\n", "put": "a\t5\n"}[what], what, path)
			second <- code
		}()
		select {
		case code := <-second:
			second <- code
			if runtime.GOOS == "linux" {
				t.Errorf("%s does not wait: exit code %d", what, code)
			}
			a.in.Close()
			<-a.code
			continue
		case <-time.After(300 * time.Millisecond):
		}
		a.in.Close()
		if first, code := <-a.code, <-second; first != exitOK || code != exitOK {
			t.Errorf("%s: exit codes %d and %d", what, first, code)
		}
		if _, held := runOn(t, "first\na\n", "check", path); held != want {
			t.Errorf("%s: the file holds %q", what, held)
		}
	}
}
