package distribute_test

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/shard"
)

// TestTwoPlans builds two plans of equal sizes in one empty output, so that their shards have the same names and
// lengths. The plan whose shards were overwritten cannot be finished, and the attempt changes nothing.
func TestTwoPlans(t *testing.T) {
	inDir, outDir := t.TempDir(), t.TempDir()
	in, out := distribute.Dir(inDir), distribute.Dir(outDir)
	var plans []*distribute.Plan
	for _, name := range []string{"a", "b"} {
		_, text := lines(name, 5000)
		write(t, filepath.Join(inDir, name), text)
		c := distribute.Config{Build: bloomery.Config{Spec: "blocked(bytes=65536)", Shards: 4}}
		p, err := distribute.NewPlan(t.Context(), in, []string{name}, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Save(t.Context(), out); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Range(t.Context(), in, out, 0, distribute.Options{}); err != nil {
			t.Fatal(err)
		}
		for s := range p.Shards {
			if _, err := p.Build(t.Context(), out, s, distribute.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		plans = append(plans, p)
	}
	before := folder(t, outDir)
	if _, err := plans[0].Finish(t.Context(), out, distribute.Options{}); !errors.Is(err, shard.ErrChanged) {
		t.Errorf("the overwritten plan: %v", err)
	}
	if !maps.Equal(before, folder(t, outDir)) {
		t.Error("the attempt to finish it changed files")
	}
	if _, err := plans[1].Finish(t.Context(), out, distribute.Options{}); err != nil {
		t.Fatal(err)
	}
	set, err := bloomery.Open(outDir)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	keys, _ := lines("b", 5000)
	for _, k := range keys {
		if !set.ContainsString(k) {
			t.Fatalf("%s is missing: %v", k, set.Err())
		}
	}
}
