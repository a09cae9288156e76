package steps_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// TestFinishBesideRunning interrupts a Finish after it wrote its manifest, saves and runs another plan for the set, and
// repeats the first Finish. The repeated Finish must not remove files of the running plan, which must then finish
// without repeating a step.
func TestFinishBesideRunning(t *testing.T) {
	want := files(t, "b")
	for _, kind := range []string{"copies", "conditional"} {
		interruptions := 0
		start := memoryOf()
		store := func(m *memory) steps.Store {
			if kind == "conditional" {
				return conditional{memory: m}
			}
			return m
		}
		a := builtPlan(t, "a", store(start), every...)
		for at := 0; ; at++ {
			m := &memory{objects: maps.Clone(start.objects)}
			out := store(m)
			m.fail(at, at%2 == 0)
			_, err := a.Finish(t.Context(), out, steps.Options{})
			m.heal()
			if err == nil {
				break
			}
			if _, err := steps.ReadPlan(t.Context(), out, a.ID(), nil); err != nil || whole(t, m) == nil {
				continue // there is no set, or no plan
			}
			interruptions++
			b := builtPlan(t, "b", out, 0, 1)
			if _, err := a.Finish(t.Context(), out, steps.Options{}); err != nil {
				t.Fatalf("%s, operation %d: %v", kind, at, err)
			}
			st, err := b.Status(t.Context(), out)
			if err != nil || len(st.MissingRanges) != 0 || !slices.Equal(st.MissingShards, []int{2}) || st.SetChanged {
				t.Fatalf("%s, operation %d: files of the running plan are gone: %+v, %v", kind, at, st, err)
			}
			if _, err := b.Build(t.Context(), out, 2, steps.Options{}); err != nil {
				t.Fatal(err)
			}
			set, err := b.Finish(t.Context(), out, steps.Options{})
			if err != nil || len(m.objects) != lateShards+1 {
				t.Fatalf("%s, operation %d: %v, %s", kind, at, err, m)
			}
			for i, e := range set.Shards {
				if m.objects[e.File] != want[e.File[:len("00000-of-00003")]+".bloom"] {
					t.Fatalf("%s, operation %d: shard %d has other bytes", kind, at, i)
				}
			}
		}
		if interruptions < 3 {
			t.Errorf("%s: Finish was interrupted %d times after the manifest", kind, interruptions)
		}
	}
}

// TestFinishLeavesFolders checks that a build does not remove a folder whose name only begins like the name of a work
// folder.
func TestFinishLeavesFolders(t *testing.T) {
	dir := t.TempDir()
	p := builtPlan(t, "a", steps.Dir(dir), every...)
	notes := filepath.Join(dir, "work-notes", "todo.txt")
	err := errors.Join(os.Mkdir(filepath.Dir(notes), 0o777), os.WriteFile(notes, []byte("buy milk"), 0o666))
	check(t, err)
	if _, err := p.Finish(t.Context(), steps.Dir(dir), steps.Options{}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(notes); string(text) != "buy milk" {
		t.Errorf("%q, %v", text, err)
	}
	other, _ := latePlan(t, "b")
	if err := other.Save(t.Context(), steps.Dir(dir)); err == nil {
		t.Error("a plan was saved beside a folder of others")
	}
}

// TestStatusOfInterruptedFinish interrupts Finish after it wrote the manifest and before it recorded this. Status must
// not mistake the manifest for a change by another user, and a repeated Finish must continue.
func TestStatusOfInterruptedFinish(t *testing.T) {
	out := memoryOf()
	p := builtPlan(t, "one", out, 0, 1, 2)
	finished := &memory{objects: maps.Clone(out.objects)}
	if _, err := p.Finish(t.Context(), finished, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	for name, content := range finished.objects { // the shards are installed, and the work files still exist
		if name == shard.ManifestName || strings.HasSuffix(name, ".bloom") {
			out.objects[name] = content
		}
	}
	st, err := p.Status(t.Context(), out)
	if err != nil || st.SetChanged || len(st.MissingShards) > 0 {
		t.Errorf("%+v, %v", st, err)
	}
	changed := &memory{objects: maps.Clone(out.objects)}
	changed.objects[shard.ManifestName] += " "
	if st, err := p.Status(t.Context(), changed); err != nil || !st.SetChanged {
		t.Errorf("with another manifest: %+v, %v", st, err)
	}
	if _, err := p.Finish(t.Context(), out, steps.Options{}); err != nil {
		t.Error(err)
	}
	if !maps.Equal(out.objects, finished.objects) {
		t.Errorf("%s, want %s", out, finished)
	}
}
