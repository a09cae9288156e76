package main

import (
	"bufio"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnswersLive writes keys one by one, each after the answer for the key before it.
func TestAnswersLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	mustRun(t, "a\nb\na\n", "build", "-o", path, "--spec", "rankindexed", "--counting")
	for _, args := range [][]string{{"check"}, {"check", "--input-format", "csv"}, {"count"}} {
		stdin, keys := io.Pipe()
		answers, stdout := io.Pipe()
		go func() {
			run(t.Context(), append(args, path), stdin, stdout, io.Discard)
			stdout.Close()
		}()
		r := bufio.NewReader(answers)
		for key, count := range map[string]string{"a\n": "2\t", "b\n": "1\t"} {
			if _, err := io.WriteString(keys, key); err != nil {
				t.Fatal(err)
			}
			want := key
			if args[0] == "count" {
				want = count + key
			}
			if got, err := r.ReadString('\n'); got != want {
				t.Errorf("%q: asked for %q, got %q, %v", args, key, got, err)
			}
		}
		keys.Close()
	}
}

// TestCountSaturated adds a key until its counters are at their maximum, and checks that the count is printed as a
// lower bound.
func TestCountSaturated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	mustRun(t, strings.Repeat("often\n", 40)+"twice\ntwice\n", "build", "-o", path, "--spec", "counting")
	if code, out := runOn(t, "often\ntwice\n", "count", path); code != exitOK || out != ">=15\toften\n2\ttwice\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
	want := `{"key":"often","count":15,"saturated":true}` + "\n" + `{"key":"twice","count":2}` + "\n"
	if code, out := runOn(t, "often\ntwice\n", "count", "--json", path); code != exitOK || out != want {
		t.Errorf("exit code %d, %q", code, out)
	}
}
