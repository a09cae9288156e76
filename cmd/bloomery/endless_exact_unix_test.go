//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// zeros is an endless stream of zeros.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// TestEndlessExact checks that commands that read an exact set or a Clubcard immediately refuse a device, an endless
// stream, and a large file of zeros, without allocating memory for them.
func TestEndlessExact(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	f, err := os.Create(large)
	if err == nil {
		err = f.Truncate(3 << 30) // uses no disk space
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "list")
	mustWrite(t, list, "a\n")
	chain := "../../interop/clubcard/testdata/valid.pem"
	out := filepath.Join(dir, "out.exact")
	for _, args := range [][]string{
		{"exact", "info", "FILE"},
		{"exact", "check", "FILE", list},
		{"exact", "verify", "FILE", "--members", list, "--universe", list},
		{"exact", "update", "--base", "FILE", "-o", out, "--members", list, "--universe", list},
		{"clubcard", "info", "FILE"},
		{"clubcard", "check", "FILE", chain},
		{"clubcard", "check", "../../interop/clubcard/testdata/cache", "FILE"},
	} {
		for _, file := range []string{"/dev/zero", "-", large} {
			if file == "-" && args[0] != "exact" {
				continue
			}
			args := append([]string{}, args...)
			for i := range args {
				if args[i] == "FILE" {
					args[i] = file
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var stdout, stderr bytes.Buffer
			code := run(ctx, args, zeros{}, &stdout, &stderr)
			runtime.ReadMemStats(&after)
			if code != exitError || ctx.Err() != nil || strings.Contains(stderr.String(), "goroutine") {
				t.Errorf("%q: exit code %d, %s", args, code, stderr.String())
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
				t.Errorf("%q: %d MiB allocated", args, took>>20)
			}
			cancel()
		}
	}
}

// TestExactPipe checks that an exact set can be read from a pipe, and that an interrupted command does not wait for the
// writer.
func TestExactPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	file := mustRead(t, "../../exact/testdata/updates.exact")
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, file, 0o600) }()
	code, stdout := runOn(t, "", "exact", "info", "--json", pipe)
	if err := <-written; err != nil || code != exitOK || !strings.Contains(stdout, `"updates": 4`) {
		t.Errorf("exit code %d, %s, %v", code, stdout, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	if code := run(ctx, []string{"exact", "info", pipe}, zeros{}, &out, &out); code == exitOK || ctx.Err() == nil {
		t.Errorf("exit code %d, %s", code, out.String())
	}
}

// TestExactCuts checks that exact info refuses a truncated file.
func TestExactCuts(t *testing.T) {
	whole := mustRead(t, "../../exact/testdata/updates.exact")
	path := filepath.Join(t.TempDir(), "cut.exact")
	for n := range whole {
		// Tests some lengths, and all lengths near the ends of records. Package exact tests all lengths.
		rest := len(whole) - n
		if n%200 != 0 && rest >= 50 && !bytes.HasPrefix(whole[n:], []byte("\x89BL")) {
			continue
		}
		mustWrite(t, path, whole[:n])
		if code, text := runOn(t, "", "exact", "info", path); code != exitError {
			t.Fatalf("cut to %d of %d bytes: exit code %d, %s", n, len(whole), code, text)
		}
	}
}
