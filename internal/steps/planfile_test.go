package steps_test

import (
	"encoding/json"
	"errors"
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
		steps.Config{Build: bloomery.Config{Spec: "partitioned", Shards: 2}, RangeBytes: 4 * int64(len(text))})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(p)
	if err != nil || len(p.Objects) != 2 || len(p.Ranges) != 2 {
		t.Fatalf("%v, %s", err, b)
	}
	return p, string(b)
}

// TestPlanLists: the lists of a plan are decoded up to their limits.
func TestPlanLists(t *testing.T) {
	want, text := planText(t)
	p, err := steps.ParsePlanOf([]byte(text), 2, 2)
	if err != nil || p.ID() != want.ID() || !reflect.DeepEqual(p.Objects, want.Objects) ||
		!reflect.DeepEqual(p.Ranges, want.Ranges) {
		t.Errorf("%v, or another plan", err)
	}
	for _, most := range [][2]int{{1, 2}, {2, 1}} {
		_, err := steps.ParsePlanOf([]byte(text), most[0], most[1])
		if err == nil || !strings.Contains(err.Error(), "more than 1") {
			t.Errorf("limits %v: error %v", most, err)
		}
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
	// 3 MB of text. Its list of a million objects would take more than 40 MB, the decoder takes 8 MB.
	bomb := []byte(`{"objects":[` + strings.Repeat("{},", 1_000_000) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = steps.ParsePlanOf(bomb, 1000, 1000)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > 16_000_000 {
		t.Errorf("%d bytes for %d of text, error %v", n, len(bomb), err)
	}
}

// TestPlanSpec: a plan made by hand has the limits of NewPlan.
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

// TestPlanIDConcurrent: the race detector sees a plan that goroutines share before anybody asked for its ID.
func TestPlanIDConcurrent(t *testing.T) {
	want, text := planText(t)
	p, err := steps.ParsePlan([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
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
