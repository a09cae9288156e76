package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/delta"
)

// TestDeltas makes and applies the difference of two versions of a filter.
func TestDeltas(t *testing.T) {
	dir := t.TempDir()
	old, next, out := filepath.Join(dir, "old.bloom"), filepath.Join(dir, "new.bloom"), filepath.Join(dir, "out.bloom")
	c := bloomery.Config{Spec: "rankindexed(capacity=1000,fpr=0.01)"}
	for path, keys := range map[string][]string{old: {"one", "two", "three"}, next: {"two", "three", "four"}} {
		set := must(bloomery.Build(t.Context(), slices.Values(keys), c))(t)
		if err := set.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	d := must(delta.DiffFiles(t.Context(), old, next))(t)
	if i, err := delta.Read(d); err != nil || i.Method != delta.Replay || len(d) > 50 {
		t.Errorf("%v in %d bytes, %v", i.Method, len(d), err)
	}
	if err := delta.PatchFile(t.Context(), old, d, out, delta.Options{}); err != nil {
		t.Fatal(err)
	}
	if want, got := must(os.ReadFile(next))(t), must(os.ReadFile(out))(t); !bytes.Equal(want, got) {
		t.Error("the result differs")
	}
	if err := delta.PatchFile(t.Context(), out, d, out, delta.Options{}); !errors.Is(err, delta.ErrBase) {
		t.Errorf("another base: %v", err)
	}
}
