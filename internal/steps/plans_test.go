package steps_test

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/steps"
)

// TestTwoPlans builds two plans of equal sizes in one empty output, so that their shards have the same names and
// lengths. Neither overwrites the other: the first one that finishes has its own set, and the other one is refused and
// changes nothing.
func TestTwoPlans(t *testing.T) {
	inDir, outDir := t.TempDir(), t.TempDir()
	in, out := steps.Dir(inDir), steps.Dir(outDir)
	var plans []*steps.Plan
	for _, name := range []string{"a", "b"} {
		_, text := lines(name, 5000)
		write(t, filepath.Join(inDir, name), text)
		c := steps.Config{Build: bloomery.Config{Spec: "blocked(bytes=65536)", Shards: 4}}
		p, err := steps.NewPlan(t.Context(), in, []string{name}, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Save(t.Context(), out); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Range(t.Context(), in, out, 0, steps.Options{}); err != nil {
			t.Fatal(err)
		}
		for s := range p.Shards {
			if _, err := p.Build(t.Context(), out, s, steps.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		plans = append(plans, p)
	}
	if _, err := plans[0].Finish(t.Context(), out, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	before := folder(t, outDir)
	_, err := plans[1].Finish(t.Context(), out, steps.Options{})
	if !errors.Is(err, steps.ErrMissing) && !errors.Is(err, steps.ErrSetChanged) {
		t.Errorf("the second plan: %v", err)
	}
	if !maps.Equal(before, folder(t, outDir)) {
		t.Error("the attempt to finish it changed files")
	}
	set, err := bloomery.Open(t.Context(), outDir)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	keys, _ := lines("a", 5000)
	for _, k := range keys {
		if !set.ContainsString(k) {
			t.Fatalf("%s is missing: %v", k, set.Err())
		}
	}
	if len(before) != 5 {
		t.Errorf("%d files", len(before))
	}
}
