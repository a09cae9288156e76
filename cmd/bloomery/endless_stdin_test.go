package main

import (
	"bytes"
	"path/filepath"
	"runtime"
	"testing"
)

// TestEndlessStdin checks that an endless standard input that is not a filter is refused after its first bytes.
func TestEndlessStdin(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.bloom")
	for _, args := range [][]string{
		{"info", "-"}, {"check", "-", out}, {"trim", "-", "-o", out},
		{"convert", "-", "-o", out}, {"convert", "-", "--from", "guava", "-o", out},
		{"convert", "-", "--from", "redisbloom", "-o", out}, {"convert", "-", "--from", "bloomery", "--to", "guava",
			"-o", out},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var stderr bytes.Buffer
		code := run(t.Context(), args, &endless{}, &stderr, &stderr)
		runtime.ReadMemStats(&after)
		if code != exitError {
			t.Errorf("%q: exit code %d, %s", args, code, stderr.String())
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
			t.Errorf("%q: %d MiB allocated", args, took>>20)
		}
	}
}

// endless yields zeros, at most 1 GiB, so that a test that fails ends.
type endless struct{ n int64 }

func (e *endless) Read(b []byte) (int, error) {
	if e.n += int64(len(b)); e.n > 1<<30 {
		panic("all of the input is read")
	}
	clear(b)
	return len(b), nil
}
