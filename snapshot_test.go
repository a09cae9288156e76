package bloomery_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/shardtest"
)

// TestSnapshotApart changes a Set and its Snapshot: neither has the keys of the other.
func TestSnapshotApart(t *testing.T) {
	const spec = "rankindexed(capacity=1000)"
	keys := []string{"a", "b"}
	dir, file := filepath.Join(t.TempDir(), "set"), filepath.Join(t.TempDir(), "f.bloom")
	if _, err := shardtest.Build(t.Context(), slices.Values(keys), dir, bloomery.Config{Spec: spec,
		Shards: 2}); err != nil {
		t.Fatal(err)
	}
	// Large enough that Open maps it.
	large := build(t, words(2_000_000/16), bloomery.Config{Spec: "standard(bytes=2000000)"})
	if err := large.Save(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	open := func(path string, o ...bloomery.Option) *bloomery.Set {
		s, err := bloomery.Open(t.Context(), path, o...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	for name, s := range map[string]*bloomery.Set{
		"plain":    build(t, keys, bloomery.Config{Spec: spec}),
		"writers":  build(t, keys, bloomery.Config{Spec: spec, Concurrent: true}),
		"raw keys": build(t, keys, bloomery.Config{Spec: "bitsandblooms(m=10000,k=3)"}),
		"mapped":   open(file), "sharded": open(dir), "sharded, writers": open(dir, bloomery.WithConcurrent()),
	} {
		shot, err := s.Clone()
		if err != nil {
			t.Fatal(name, err)
		}
		if shot == s {
			t.Errorf("%s: the Snapshot is the Set", name)
		}
		before := shot.Len()
		if err := errors.Join(s.AddString("only the set"), shot.AddString("only the snapshot")); err != nil {
			t.Fatal(name, err)
		}
		if s.ContainsString("only the snapshot") || shot.ContainsString("only the set") {
			t.Errorf("%s: a change of one is in the other", name)
		}
		if !s.ContainsString("only the set") || !shot.ContainsString("only the snapshot") || shot.Len() != before+1 {
			t.Errorf("%s: a change is lost", name)
		}
		if shot.Info().FPRChosen != s.Info().FPRChosen || shot.Spec() != s.Spec() {
			t.Errorf("%s: %v and %v", name, s, shot)
		}
	}
	var zero bloomery.Set
	if shot, err := zero.Clone(); err != nil || shot.ContainsString("a") {
		t.Errorf("of the zero Set: %v, %v", shot, err)
	}
}

// TestNoCopy: saving, comparing and estimating a plain Set do not copy its filter.
func TestNoCopy(t *testing.T) {
	const size = 8 << 20
	s := build(t, words(1000), bloomery.Config{Spec: "standard(bytes=8388608)"})
	o := build(t, words(1000), bloomery.Config{Spec: "standard(bytes=8388608)"})
	for what, do := range map[string]func() error{
		"Save":             func() error { return s.Save(t.Context(), filepath.Join(t.TempDir(), "f")) },
		"EstimateInterval": func() error { _, err := s.EstimateInterval(); return err },
		"EstimateOverlap":  func() error { _, err := s.EstimateOverlap(o); return err },
		"Merge":            func() error { return s.Merge(o) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := do()
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > size/2 {
			t.Errorf("%s allocates %d bytes for a filter of %d: %v", what, n, size, err)
		}
	}
}
