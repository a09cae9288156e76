package steps_test

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/steps"
)

// planText returns a plan of two objects and two ranges, and its JSON.
func planText(t *testing.T) (*steps.Plan, string) {
	t.Helper()
	_, text := lines("key", 100)
	p, err := steps.NewPlan(t.Context(), memoryOf("a", text, "b", text), []string{"a", "b"},
		steps.Config{Build: bloomery.Config{Spec: "partitioned", Sharding: bloomery.Sharding{Shards: 2}},
			RangeBytes: 4 * int64(len(text))})
	check(t, err)
	b, err := json.Marshal(p)
	if err != nil || len(p.Objects) != 2 || len(p.Ranges) != 2 {
		t.Fatalf("%v, %s", err, b)
	}
	return p, string(b)
}

// TestPlanLists checks that the lists of a plan are decoded up to their limits.
func TestPlanLists(t *testing.T) {
	want, text := planText(t)
	p, err := steps.ParsePlanOf([]byte(text), 2)
	if err != nil || p.ID() != want.ID() || !reflect.DeepEqual(p.Objects, want.Objects) ||
		!reflect.DeepEqual(p.Ranges, want.Ranges) {
		t.Errorf("%v, or another plan", err)
	}
	if _, err := steps.ParsePlanOf([]byte(text), 1); err == nil || !strings.Contains(err.Error(), "more than 1") {
		t.Errorf("a limit of 1: error %v", err)
	}
	for _, change := range [][2]string{
		{`"objects":[`, `"objects":[{"new":1},`},
		{`"ranges":[`, `"ranges":[{"new":1},`},
		{`"ranges":[`, `"ranges":{},"Ranges":[`},
	} {
		bad := strings.Replace(text, change[0], change[1], 1)
		if _, err := steps.ParsePlan([]byte(bad), nil); bad == text || err == nil {
			t.Errorf("%s: error %v", change[1], err)
		}
	}
	// 3 MB of text. Its list of a million objects would take more than 40 MB, the decoder needs 8 MB.
	bomb := []byte(`{"objects":[` + strings.Repeat("{},", 1_000_000) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = steps.ParsePlanOf(bomb, 1000)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > 16_000_000 {
		t.Errorf("%d bytes for %d of text, error %v", n, len(bomb), err)
	}
}

// TestPlanSpec checks that the limits of NewPlan also apply to a plan that was written by hand.
func TestPlanSpec(t *testing.T) {
	_, text := planText(t)
	specs := []string{"partitioned(budget=1s)"}
	for _, f := range families.All() {
		if f.Can.Has(family.CanRawKeys) {
			specs = append(specs, f.Name)
		}
	}
	if len(specs) < 2 {
		t.Fatal("no family takes raw keys")
	}
	for _, spec := range specs {
		bad := strings.Replace(text, `"spec":"partitioned"`, `"spec":"`+spec+`"`, 1)
		if bad == text {
			t.Fatalf("no spec in %s", text)
		}
		_, err := steps.ParsePlan([]byte(bad), nil)
		if !errors.Is(err, filter.ErrConfig) && !errors.Is(err, filter.ErrUnsupported) {
			t.Errorf("%s: error %v", spec, err)
		}
	}
}

// TestPlanIDConcurrent calls ID for the first time from several goroutines at once. The race detector must find no
// race.
func TestPlanIDConcurrent(t *testing.T) {
	want, text := planText(t)
	p, err := steps.ParsePlan([]byte(text), nil)
	check(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if p.ID() != want.ID() {
				t.Error("another ID")
			}
		})
	}
	wg.Wait()
}

// TestTwoPlans builds two plans of equal sizes in one empty output, so that their shards have the same names and
// lengths. Neither may overwrite the other. The first plan to finish must have its own set, and the other must be
// refused and change nothing.
func TestTwoPlans(t *testing.T) {
	inDir, outDir := t.TempDir(), t.TempDir()
	in, out := steps.Dir(inDir), steps.Dir(outDir)
	var plans []*steps.Plan
	for _, name := range []string{"a", "b"} {
		_, text := lines(name, 5000)
		write(t, filepath.Join(inDir, name), text)
		c := steps.Config{Build: bloomery.Config{Spec: "blocked(bytes=65536)", Sharding: bloomery.Sharding{Shards: 4}}}
		p, err := steps.NewPlan(t.Context(), in, []string{name}, c)
		check(t, err)
		check(t, p.Save(t.Context(), out))
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
	check(t, err)
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
