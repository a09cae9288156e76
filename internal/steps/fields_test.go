package steps_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/plan"
)

// TestPlanFields makes a plan with each field of bloomery.Config set, and checks that the plan has it or NewPlan
// returns an error for it.
func TestPlanFields(t *testing.T) {
	like := settest.Build(t, settest.Words(10), bloomery.Config{})
	secret := filter.NewSecret()
	reports := 0 // calls of Building.Chosen
	type config = bloomery.Config
	rows := map[string]struct {
		change func(c *config)
		want   string // in the plan; empty if the field is refused
	}{
		"Spec":     {func(c *config) { c.Spec = "standard" }, `"spec":"standard"`},
		"FPR":      {func(c *config) { c.FPR = 0.03 }, `"spec":"blocked(fpr=0.03)"`},
		"Keys":     {func(c *config) { c.Keys = 3 }, `"exact_keys":3`},
		"Capacity": {func(c *config) { c.Capacity = 1000 }, `"capacity":1000`},
		"Needs": {func(c *config) { c.Spec, c.Keys, c.Needs = "", 100, plan.Needs{FPR: 0.03} },
			`"fpr_planned":0.03`},
		"Like.Set":          {func(c *config) { c.Like.Set = like }, ""},
		"Like.Shrink":       {func(c *config) { c.Like.Shrink = 0.1 }, ""},
		"Hashing.ID":        {func(c *config) { c.Spec, c.Hashing.ID = "blocked(layout=split)", filter.XXH64 }, `"hash":3`},
		"Hashing.Seed":      {func(c *config) { c.Hashing.Seed = 77 }, `"seed":"77"`},
		"Hashing.Secret":    {func(c *config) { c.Hashing.Secret = secret }, `"hash":2`},
		"Hashing.Form":      {func(c *config) { c.Hashing.Form.Lower = true }, `"key_form":"lower"`},
		"Sharding.Dir":      {func(c *config) { c.Sharding.Dir = "set" }, ""},
		"Sharding.Shards":   {func(c *config) { c.Sharding.Shards = 3 }, `"shards":3`},
		"Limits.Bytes":      {func(c *config) { c.Limits.Bytes = 1000 }, `"max_bytes":1000`},
		"Limits.Bytes now":  {func(c *config) { c.Spec, c.Limits.Bytes = "blocked(bytes=1000000)", 1000 }, ""},
		"Limits.FPR":        {func(c *config) { c.Limits.FPR = 0.07 }, `"max_fpr":0.07`},
		"Building.Workers":  {func(c *config) { c.Building.Workers = 2 }, ""},
		"Building.Memory":   {func(c *config) { c.Building.Memory = 1 << 20 }, ""},
		"Building.TempDir":  {func(c *config) { c.Building.TempDir = t.TempDir() }, ""},
		"Building.Progress": {func(c *config) { c.Building.Progress = func(filter.Progress) {} }, ""},
		"Building.Chosen": {func(c *config) {
			c.Spec, c.Keys, c.Needs = "", 100, plan.Needs{FPR: 0.03}
			c.Building.Chosen = func(plan.Choice) { reports++ }
		}, `"fpr_planned":0.03`},
		"Concurrent": {func(c *config) { c.Concurrent = true }, ""},
		"Allow":      {func(c *config) { c.Allow = slices.Values([][]byte{[]byte("no")}) }, ""},
	}

	for _, name := range fieldNames(reflect.TypeFor[config](), "") {
		if rows[name].change == nil {
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
	if reports != 1 {
		t.Errorf("Building.Chosen was called %d times, not once", reports)
	}
}

// fieldNames returns the names of the fields of a struct. For a field that is a struct of package bloomery it returns
// the names of that struct's fields, such as Limits.Bytes.
func fieldNames(of reflect.Type, prefix string) (names []string) {
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Type.Kind() == reflect.Struct && f.Type.PkgPath() == of.PkgPath() {
			names = append(names, fieldNames(f.Type, prefix+f.Name+".")...)
			continue
		}
		names = append(names, prefix+f.Name)
	}
	return names
}

// TestLimitsOfSet checks that a distributed build returns the errors of bloomery.Build if the keys exceed a limit of
// the whole set or their number is wrong, and that it stores the same rate.
func TestLimitsOfSet(t *testing.T) {
	keys, text := lines("key", 5000)
	distinct := len(slices.Compact(slices.Sorted(slices.Values(keys))))
	for _, row := range []struct {
		change func(c *bloomery.Config)
		want   error
	}{
		{func(c *bloomery.Config) { c.Limits.Bytes = 1000 }, filter.ErrTooLarge},
		{func(c *bloomery.Config) { c.Limits.Bytes = 1 << 20 }, nil},
		{func(c *bloomery.Config) { c.Capacity = uint64(distinct) - 1 }, filter.ErrFull},
		{func(c *bloomery.Config) { c.Capacity = uint64(distinct) }, nil},
		{func(c *bloomery.Config) { c.Spec, c.Capacity = "standard", 4900 }, filter.ErrFull},
		{func(c *bloomery.Config) { c.Spec, c.Capacity = "rankindexed(counting=1)", uint64(distinct) }, nil},
		{func(c *bloomery.Config) { c.Spec, c.Capacity = "rankindexed(counting=1)", 3000 }, filter.ErrFull},
		{func(c *bloomery.Config) { c.Keys = 100 }, filter.ErrKeys},
		{func(c *bloomery.Config) { c.Spec, c.Keys = "", 100 }, filter.ErrKeys},
		{func(c *bloomery.Config) { c.Keys = uint64(len(keys)) }, nil},
		{func(c *bloomery.Config) {
			c.Spec, c.Keys, c.Needs = "", uint64(len(keys)), plan.Needs{FPR: 0.9, Count: true}
		}, nil},
	} {
		c := bloomery.Config{Spec: "ribbon", Sharding: bloomery.Sharding{Shards: 4}}
		row.change(&c)
		local, err := settest.BuildShards(t.Context(), slices.Values(keys), filepath.Join(t.TempDir(), "set"), c)
		if !errors.Is(err, row.want) {
			t.Fatalf("%v: Build: %v, not %v", c, err, row.want)
		}

		in, out := memoryOf("keys", text), memoryOf()
		p, err := steps.NewPlan(t.Context(), in, []string{"keys"}, steps.Config{Build: c})
		check(t, err)
		m, err := all(t.Context(), p, in, out, steps.Options{})
		if !errors.Is(err, row.want) {
			t.Errorf("%v: %v, not %v", c, err, row.want)
		}
		if row.want == nil && (err != nil || !reflect.DeepEqual(m, local)) {
			t.Errorf("%v: %v; the manifest is %v, not %v", c, err, m, local)
		}
		if r := family.Reader(p.Spec).Float("fpr"); row.want == nil && c.Needs.FPR > 0 && (r == 0 || m.FPRPlanned != r) {
			t.Errorf("%v: the planned rate is %v, not %v of %s", c, m.FPRPlanned, r, p.Spec)
		}
	}
}
