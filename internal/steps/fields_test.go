package steps_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/plan"
)

// TestPlanFields makes a plan with each field of bloomery.Config set, and checks that the plan has it or NewPlan
// returns an error for it.
func TestPlanFields(t *testing.T) {
	like := settest.Build(t, settest.Words(10), bloomery.Config{})
	type config = bloomery.Config
	rows := map[string]struct {
		change func(c *config)
		want   string // in the plan; empty if the field is refused
	}{
		"Spec":     {func(c *config) { c.Spec = "standard" }, `"spec":"standard"`},
		"FPR":      {func(c *config) { c.FPR = 0.03 }, `"spec":"blocked(fpr=0.03)"`},
		"Keys":     {func(c *config) { c.Keys = 3 }, `"spec":"blocked"`}, // only the planner and Limits need it
		"Capacity": {func(c *config) { c.Capacity = 1000 }, `"capacity":`},
		"Needs": {func(c *config) { c.Spec, c.Keys, c.Needs = "", 100, plan.Needs{FPR: 0.03} },
			`"fpr_chosen":0.03`},
		"Like":          {func(c *config) { c.Like.Set = like }, ""},
		"Hashing":       {func(c *config) { c.Hashing.Seed = 77 }, `"seed":"77"`},
		"Sharding":      {func(c *config) { c.Sharding.Shards = 3 }, `"shards":3`},
		"Sharding.Dir":  {func(c *config) { c.Sharding.Dir = "set" }, ""},
		"Limits":        {func(c *config) { c.Limits.FPR = 0.07 }, `"max_fpr":0.07`},
		"Limits.Bytes":  {func(c *config) { c.Spec, c.Limits.Bytes = "blocked(bytes=1000000)", 1000 }, ""},
		"Building":      {func(c *config) { c.Building.Workers = 2 }, ""},
		"Building.Dir":  {func(c *config) { c.Building.TempDir = t.TempDir() }, ""},
		"Building.Size": {func(c *config) { c.Building.Memory = 1 << 20 }, ""},
		"Building.Call": {func(c *config) { c.Building.Progress = func(filter.Progress) {} }, ""},
		"Concurrent":    {func(c *config) { c.Concurrent = true }, ""},
		"Allow":         {func(c *config) { c.Allow = slices.Values([][]byte{[]byte("no")}) }, ""},
	}

	for i := range reflect.TypeFor[config]().NumField() {
		if name := reflect.TypeFor[config]().Field(i).Name; rows[name].change == nil {
			t.Errorf("Config.%s is not in the table: does a plan have it?", name)
		}
	}
	for name, row := range rows {
		c := config{Spec: "blocked", Sharding: bloomery.Sharding{Shards: 2}}
		row.change(&c)
		in, out := memoryOf("keys", "a\nb\nc\n"), memoryOf()
		p, err := steps.NewPlan(t.Context(), in, []string{"keys"}, steps.Config{Build: c})
		if row.want == "" || err != nil {
			refused := errors.Is(err, filter.ErrConfig) || errors.Is(err, filter.ErrTooLarge)
			if row.want != "" || !refused {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		check(t, p.Save(t.Context(), out))
		if text := out.objects["work-"+p.ID()+"/plan.json"]; !strings.Contains(text, row.want) {
			t.Errorf("%s: %s is not in the plan: %s", name, row.want, text)
		}
	}
}
