//go:build !race

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// numbersTo returns lines of different numbers, and rests after every so many, so that dedup saves its state between.
func numbersTo(n, restAfter int) io.Reader {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriter(w)
		for i := range n {
			if fmt.Fprintln(out, i); (i+1)%restAfter == 0 {
				out.Flush()
				time.Sleep(20 * time.Millisecond)
			}
		}
		w.CloseWithError(out.Flush())
	}()
	return r
}

// TestMemoryOfDedup holds the promise of docs/dedup.md for a state, when it is made, and when it is read and saved many
// times: the filter once, or with --ttl twice, for the copy that is saved; while it doubles, up to three times. The
// program and its buffers take 20 MiB; a further copy takes more than the 32 MiB that the test leaves.
func TestMemoryOfDedup(t *testing.T) {
	if testing.Short() {
		t.Skip("filters of 48 MiB; left out with -short")
	}
	for name, c := range map[string]struct {
		flags       []string
		save        string
		lines, rest int
		made, read  int64 // times the filter
	}{
		"ttl":   {[]string{"--ttl", "1h", "--keys", "28M", "--fpr", "1%"}, "10ms", 60, 10, 2, 2},
		"fixed": {[]string{"--keys", "40M", "--fpr", "1%"}, "10ms", 60, 10, 1, 1},
		"grows": {[]string{"--fpr", "1e-9"}, "200ms", 4_500_000, 1_000_000, 3, 1}, // some saves in seconds of work
	} {
		state := filepath.Join(t.TempDir(), "seen.state")
		args := append([]string{"dedup", "--state", state}, c.flags...)
		made := peakOfReader(t, numbersTo(c.lines, c.rest), append(args, "--save", c.save)...)
		read := peakOfReader(t, numbersTo(60, 10), append(args, "--save", "10ms")...)
		st, err := os.Stat(state)
		if err != nil || st.Size() < 40<<20 {
			t.Fatalf("%v of %d bytes", err, st.Size())
		}
		t.Logf("%s: a state of %d MiB; %d MiB in memory when it was made, %d MiB when it was read", name, st.Size()>>20,
			made>>20, read>>20)
		if made > c.made*st.Size()+32<<20 || read > c.read*st.Size()+32<<20 {
			t.Errorf("%s: %d and %d MiB in memory, at most %d and %d times %d MiB, and 32 MiB", name, made>>20, read>>20,
				c.made, c.read, st.Size()>>20)
		}
	}
}
