package steps_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

const lateShards = 3

// latePlan returns a plan whose keys differ for each name. All plans have shards with the same names and sizes.
func latePlan(t *testing.T, name string) (*steps.Plan, steps.Source) {
	t.Helper()
	_, text := lines(name, 800)
	in := memoryOf(name, text)
	p, err := steps.NewPlan(t.Context(), in, []string{name}, steps.Config{
		Build: bloomery.Config{Spec: "blocked(bytes=65536)",
			Sharding: bloomery.Sharding{Shards: lateShards}}, RangeBytes: 3000,
	})
	check(t, err)
	return p, in
}

// hashed saves the plan and runs its ranges.
func hashed(t *testing.T, name string, out steps.Store) *steps.Plan {
	t.Helper()
	p, in := latePlan(t, name)
	err := p.Save(t.Context(), out)
	for i := 0; err == nil && i < len(p.Ranges); i++ {
		_, err = p.Range(t.Context(), in, out, i, steps.Options{})
	}
	if err == nil {
		_, err = p.Gather(t.Context(), out, nil, steps.Options{})
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// builtPlan calls hashed and then builds the shards.
func builtPlan(t *testing.T, name string, out steps.Store, shards ...int) *steps.Plan {
	t.Helper()
	p := hashed(t, name, out)
	if _, err := p.BuildAll(t.Context(), out, shards, steps.Options{}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// files returns the files that Build writes for the keys of a latePlan.
func files(t *testing.T, name string) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	keys, _ := lines(name, 800)
	c := bloomery.Config{Spec: "blocked(bytes=65536)", Sharding: bloomery.Sharding{Shards: lateShards}}
	if _, err := settest.BuildShards(t.Context(), slices.Values(keys), dir, c); err != nil {
		t.Fatal(err)
	}
	return folder(t, dir)
}

// output is a kind of Store and its content.
type output struct {
	kind  string
	store steps.Store
	files func() map[string]string
}

// outputs returns an empty Store of each kind: a Renamer, a Store that can only copy, and a Conditional.
func outputs(t *testing.T) []output {
	dir, plain, cond := filepath.Join(t.TempDir(), "set"), memoryOf(), memoryOf()
	return []output{
		{"folder", steps.Dir(dir), func() map[string]string { return folder(t, dir) }},
		{"copies", plain, func() map[string]string { return maps.Clone(plain.objects) }},
		{"conditional", conditional{memory: cond}, func() map[string]string { return maps.Clone(cond.objects) }},
	}
}

// finished returns only the files of a set.
func finished(files map[string]string) map[string]string {
	m, err := shard.ReadManifest(strings.NewReader(files[shard.ManifestName]))
	if err != nil {
		return nil
	}
	set := map[string]string{shard.ManifestName: files[shard.ManifestName]}
	for _, e := range m.Shards {
		set[e.File] = files[e.File]
	}
	return set
}

var every = []int{0, 1, 2}

// TestLateWorker continues workers of an abandoned plan after another plan has finished its set. The bytes of the set
// must not change, and the workers must leave no work files.
func TestLateWorker(t *testing.T) {
	want := files(t, "b")
	for _, out := range outputs(t) {
		for _, before := range [][]int{nil, {0}, every} {
			late := builtPlan(t, fmt.Sprint("a", len(before)), out.store, before...)
			b := builtPlan(t, "b", out.store, every...)
			// The worker pauses before it checks for existing files, or between this check and writing.
			for _, at := range []string{"start", "write"} {
				was := out.files()
				paused := &pausing{Store: out.store, at: at, pause: func() {
					if _, err := b.Finish(t.Context(), out.store, steps.Options{}); err != nil {
						t.Fatalf("%s: %v", out.kind, err)
					}
					if got := out.files(); !maps.Equal(got, want) {
						t.Errorf("%s, %d shards before: the set has %q, want those of Build: %q", out.kind, len(before),
							slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
					}
				}}
				var store steps.Store = paused
				if c, ok := out.store.(conditional); ok {
					store = pausingIf{paused, c}
				}
				if at == "start" {
					paused.now()
				}
				for s := range lateShards {
					_, _ = late.Build(t.Context(), store, s, steps.Options{}) // returns an error or has no effect
				}
				paused.now()
				if got := finished(out.files()); !maps.Equal(got, want) {
					t.Errorf("%s, %d shards before, late at %s: the finished set was changed", out.kind, len(before), at)
				}
				for name := range out.files() {
					if strings.HasPrefix(name, "work-"+late.ID()) {
						t.Errorf("%s, %d shards before, late at %s: %s is left behind", out.kind, len(before), at, name)
					}
				}
				restore(t, out, was)
			}
			restore(t, out, nil)
		}
	}
}

// restore replaces the files of an output by was.
func restore(t *testing.T, out output, was map[string]string) {
	t.Helper()
	for name := range out.files() {
		check(t, out.store.Remove(t.Context(), name))
	}
	for name, text := range was {
		err := out.store.Write(t.Context(), name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		check(t, err)
	}
}

// pausing is a Store that calls pause once, before the first write of a shard.
type pausing struct {
	steps.Store
	at    string
	pause func()
}

func (p *pausing) now() {
	if f := p.pause; f != nil {
		p.pause = nil
		f()
	}
}

func (p *pausing) wait(name string) {
	if p.at == "write" && strings.HasSuffix(name, ".bloom") {
		p.now()
	}
}

func (p *pausing) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	p.wait(name)
	return p.Store.Write(ctx, name, write)
}

// pausingIf is a pausing Conditional.
type pausingIf struct {
	*pausing
	c steps.Conditional
}

func (p pausingIf) WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error {
	p.wait(name)
	return p.c.WriteIf(ctx, name, version, write)
}

// TestLateWorkerBesideBuild checks that a plan cannot finish after a Builder of a sharded set has built the set while
// the workers of the plan continued.
func TestLateWorkerBesideBuild(t *testing.T) {
	for _, replaces := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "set")
		out := steps.Dir(dir)
		c := bloomery.Config{Spec: "blocked(bytes=65536)", Sharding: bloomery.Sharding{Shards: lateShards}}
		keys, _ := lines("b", 800)
		build := func() {
			t.Helper()
			if _, err := settest.BuildShards(t.Context(), slices.Values(keys[1:]), dir, c); err != nil {
				t.Fatal(err)
			}
		}
		if replaces {
			if _, err := settest.BuildShards(t.Context(), slices.Values(keys), dir, c); err != nil {
				t.Fatal(err)
			}
		}
		late := builtPlan(t, "a", out, 0)
		build()
		want := finished(folder(t, dir))
		if _, err := late.BuildAll(t.Context(), out, every, steps.Options{}); err != nil {
			t.Fatal(err)
		}
		st, err := late.Status(t.Context(), out)
		if err != nil || !st.SetChanged || len(st.MissingShards) != 0 {
			t.Errorf("status %+v, %v", st, err)
		}
		if _, err := late.Finish(t.Context(), out, steps.Options{}); !errors.Is(err, steps.ErrSetChanged) {
			t.Errorf("Finish: %v", err)
		}
		if !maps.Equal(finished(folder(t, dir)), want) {
			t.Error("the finished set was changed")
		}
	}
}

// TestLateWorkerInFinish runs Finish of a plan while workers of another plan and of this plan write all their shards,
// before every single operation.
func TestLateWorkerInFinish(t *testing.T) {
	want := files(t, "b")
	start := memoryOf()
	a, b := hashed(t, "a", conditional{memory: start}), builtPlan(t, "b", conditional{memory: start}, every...)
	for at := 0; ; at++ {
		m := &memory{objects: maps.Clone(start.objects)}
		plain := conditional{memory: m}
		ran := false
		out := plain
		out.before = atOperation(at, func() {
			ran = true
			for s := range lateShards {
				_, _ = a.Build(t.Context(), plain, s, steps.Options{})
				_, _ = b.Build(t.Context(), plain, s, steps.Options{})
			}
		})
		if _, err := b.Finish(t.Context(), out, steps.Options{}); err != nil {
			t.Fatalf("operation %d: %v", at, err)
		}
		if got := finished(m.objects); !maps.Equal(got, want) {
			t.Fatalf("operation %d: %s", at, m)
		}
		if !ran {
			break
		}
	}
}

// atOperation returns a function that calls f when it is called for the time number at, from 0 on. Other calls wait.
func atOperation(at int, f func()) func() {
	var mu sync.Mutex
	n := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if n == at {
			f()
		}
		n++
	}
}

// TestFinishInFinish pauses a Finish before every single operation, runs another plan from its beginning to its end,
// and continues the Finish. The later set must be complete and must not be replaced. In a folder, the lock ensures
// this: see TestFinishWaits.
func TestFinishInFinish(t *testing.T) {
	for _, old := range []bool{false, true} {
		start := memoryOf()
		if old {
			p := builtPlan(t, "old", conditional{memory: start}, every...)
			if _, err := p.Finish(t.Context(), conditional{memory: start}, steps.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		a := builtPlan(t, "a", conditional{memory: start}, every...)
		refused, after := 0, 0
		for at := 0; ; at++ {
			m := &memory{objects: maps.Clone(start.objects)}
			plain := conditional{memory: m}
			var later map[string]string
			out := plain
			out.before = atOperation(at, func() {
				p := builtPlan(t, "b", plain, every...)
				if _, err := p.Finish(t.Context(), plain, steps.Options{}); err != nil {
					t.Errorf("operation %d: %v", at, err)
				}
				later = finished(m.objects)
			})
			_, err := a.Finish(t.Context(), out, steps.Options{})
			switch {
			case later == nil && err != nil:
				t.Fatal(err)
			case later == nil:
			case !maps.Equal(finished(m.objects), later):
				t.Fatalf("operation %d, old %v: the later set was changed (%v): %s", at, old, err, m)
			case err == nil:
				after++
			default:
				refused++
			}
			if whole(t, m) == nil {
				t.Fatalf("operation %d: no set", at)
			}
			if later == nil {
				break
			}
		}
		if refused < 5 {
			t.Errorf("%d refused, %d not", refused, after)
		}
	}
}

// TestSameShardTwice builds the same shards by two workers of a plan, one of them between two steps of the other. The
// set may already be finished then.
func TestSameShardTwice(t *testing.T) {
	want := files(t, "b")
	for _, finish := range []bool{false, true} {
		for _, out := range outputs(t) {
			p := hashed(t, "b", out.store)
			paused := &pausing{Store: out.store, at: "write", pause: func() {
				_, err := p.BuildAll(t.Context(), out.store, every, steps.Options{})
				if err == nil && finish {
					_, err = p.Finish(t.Context(), out.store, steps.Options{})
				}
				if err != nil {
					t.Fatalf("%s: %v", out.kind, err)
				}
			}}
			var store steps.Store = paused
			if c, ok := out.store.(conditional); ok {
				store = pausingIf{paused, c}
			}
			if _, err := p.Build(t.Context(), store, 1, steps.Options{}); err != nil || paused.pause != nil {
				t.Fatalf("%s, finished %v: %v, or no second worker", out.kind, finish, err)
			}
			if !finish {
				if _, err := p.Finish(t.Context(), out.store, steps.Options{}); err != nil {
					t.Fatalf("%s: %v", out.kind, err)
				}
			}
			if got := out.files(); !maps.Equal(got, want) {
				t.Errorf("%s, finished %v: %q", out.kind, finish, slices.Sorted(maps.Keys(got)))
			}
		}
	}
}
