package main

import (
	"bufio"
	"io"
	"path/filepath"
	"testing"
)

// TestCheckAnswersLive asks key by key: the next one comes only after the answer.
func TestCheckAnswersLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	mustRun(t, "a\nb\nc\n", "build", "-o", path)
	for _, format := range []string{"lines", "csv"} {
		stdin, keys := io.Pipe()
		answers, stdout := io.Pipe()
		go func() {
			run(t.Context(), []string{"check", "--input-format", format, path}, stdin, stdout, io.Discard)
			stdout.Close()
		}()
		r := bufio.NewReader(answers)
		for _, key := range []string{"a\n", "b\n", "c\n"} {
			if _, err := io.WriteString(keys, key); err != nil {
				t.Fatal(err)
			}
			if got, err := r.ReadString('\n'); got != key {
				t.Errorf("%s: asked for %q, got %q, %v", format, key, got, err)
			}
		}
		keys.Close()
	}
}
