//go:build !race

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bloomery/bloomery/window"
)

// TestMemoryOfWindows holds the promise that info, check and verify take a file of package window once. The limit is
// that of TestMemoryOfChanges: the file and 32 MiB, of which the program takes 23.
func TestMemoryOfWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("a filter of 48 MiB; left out with -short")
	}
	f, err := window.New[string](window.Config{Keys: 28_000_000, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Add("a"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "seen.window")
	if err := f.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Size() < 40<<20 {
		t.Fatalf("%v of %d bytes", err, st.Size())
	}
	for name, args := range map[string][]string{
		"info": {path}, "check": {path}, "verify": {path, "--members", "-", "--random", "100k"},
	} {
		got, most := peakOf(t, "a\n", append([]string{name}, args...)...), st.Size()+32<<20
		t.Logf("%s: %d MiB in memory, a file of %d MiB", name, got>>20, st.Size()>>20)
		if got > most {
			t.Errorf("%s: %d MiB in memory, at most %d", name, got>>20, most>>20)
		}
	}
}
