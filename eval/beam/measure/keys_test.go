package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/bloomery/bloomery/internal/steps"
)

// TestKeys reads the lines in parts of any size and compares them with SplitMix64.
func TestKeys(t *testing.T) {
	var want bytes.Buffer
	for i := 5; i < 500; i++ {
		x := uint64(i) * 0x9E3779B97F4A7C15
		x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
		x = (x ^ x>>27) * 0x94D049BB133111EB
		fmt.Fprintf(&want, "key%016x\n", x^x>>31)
	}
	for name, r := range map[string]io.Reader{
		"whole": &keys{5, 500, nil}, "bytes": iotest.OneByteReader(&keys{5, 500, nil}),
		"halves": iotest.HalfReader(&keys{5, 500, nil}),
	} {
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, want.Len())
		}
	}
}

// TestSplit requires at least two spans of a recipe, each beginning where the one before ends.
func TestSplit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recipe")
	if err := os.WriteFile(path, []byte("10 1010\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int64]int{1 << 20: 2, 100 * lineSize: 10, 300 * lineSize: 4, 1: 1000} {
		spans, err := made{}.Split(t.Context(), steps.Files(), steps.Object{Name: filepath.ToSlash(path)}, size)
		if err != nil || len(spans) != want {
			t.Errorf("size %d: %d spans, %v, want %d", size, len(spans), err, want)
		}
		next := int64(10)
		for _, s := range spans {
			if s.Offset != next {
				t.Fatalf("size %d: a span begins at %d, not %d", size, s.Offset, next)
			}
			next += s.Length
		}
		if next != 1010 {
			t.Errorf("size %d: the spans end at %d", size, next)
		}
	}
}
