package bloomery_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// TestFields: New, Build and a build in a folder use each field of a Config, or refuse it. New accepts Workers,
// Memory, TempDir and Progress: it has no such work.
func TestFields(t *testing.T) {
	keys := []string{"a", "b", "c"}
	like := build(t, keys, bloomery.Config{Spec: "standard"})
	dir := filepath.Join(t.TempDir(), "like")
	sharded, err := bloomery.Build(t.Context(), slices.Values(keys), bloomery.Config{Spec: "standard", Dir: dir, Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer sharded.Close()
	ways := map[string]func(bloomery.Config) error{
		"New": func(c bloomery.Config) error { _, err := bloomery.New(c); return err },
		"Build": func(c bloomery.Config) error {
			_, err := bloomery.Build(t.Context(), slices.Values(keys), c)
			return err
		},
		"Dir": func(c bloomery.Config) error {
			c.Dir = filepath.Join(t.TempDir(), "set")
			if c.Like != nil {
				c.Like = sharded
			}
			s, err := bloomery.Build(t.Context(), slices.Values(keys), c)
			if err == nil {
				s.Close()
			}
			return err
		},
	}
	type fields func(c *bloomery.Config)
	all := map[string]struct {
		set     fields
		refused string // the ways that refuse the field
	}{
		"Spec":       {func(c *bloomery.Config) { c.Spec = "blocked" }, ""},
		"Needs":      {func(c *bloomery.Config) { c.Needs = plan.Needs{FPR: 0.01} }, ""},
		"Like":       {func(c *bloomery.Config) { c.Like = like }, "New"},
		"Shrink":     {func(c *bloomery.Config) { c.Shrink = 0.1 }, "New Build Dir"}, // without Like
		"Capacity":   {func(c *bloomery.Config) { c.Capacity = 100 }, ""},
		"Chosen":     {func(c *bloomery.Config) { c.Chosen = func(plan.Choice) {}; c.Needs.FPR = 0.01 }, ""},
		"FPRChosen":  {func(c *bloomery.Config) { c.FPRChosen = 0.1 }, ""},
		"MaxFPR":     {func(c *bloomery.Config) { c.MaxFPR = 0.1 }, ""},
		"Keys":       {func(c *bloomery.Config) { c.Keys = 3 }, ""},
		"MaxBytes":   {func(c *bloomery.Config) { c.MaxBytes = 1 << 20 }, ""},
		"Dir":        {func(c *bloomery.Config) { c.Dir = filepath.Join(t.TempDir(), "dir") }, "New"},
		"Shards":     {func(c *bloomery.Config) { c.Shards = 2 }, "New Build"},
		"Seed":       {func(c *bloomery.Config) { c.Seed = 1 }, ""},
		"Secret":     {func(c *bloomery.Config) { c.Secret = filter.NewSecret() }, ""},
		"Hash":       {func(c *bloomery.Config) { c.Spec, c.Hash = "blocked(layout=split)", filter.XXH64 }, ""},
		"Workers":    {func(c *bloomery.Config) { c.Workers = 2 }, ""},
		"Memory":     {func(c *bloomery.Config) { c.Memory = 1 << 20 }, ""},
		"TempDir":    {func(c *bloomery.Config) { c.TempDir = t.TempDir() }, ""},
		"Progress":   {func(c *bloomery.Config) { c.Progress = func(filter.Progress) {} }, ""},
		"Concurrent": {func(c *bloomery.Config) { c.Concurrent = true }, "Dir"},
		"Allow":      {func(c *bloomery.Config) { c.Allow = slices.Values([][]byte{[]byte("no")}) }, "New"},
	}
	for i := range reflect.TypeFor[bloomery.Config]().NumField() {
		name := reflect.TypeFor[bloomery.Config]().Field(i).Name
		field, ok := all[name]
		if !ok {
			t.Errorf("Config.%s is not in the table: is it used or refused?", name)
			continue
		}
		for way, make := range ways {
			c := bloomery.Config{}
			if way == "New" {
				c.Keys = 3
			}
			field.set(&c)
			err, refused := make(c), slices.Contains(strings.Fields(field.refused), way)
			if refused && !errors.Is(err, filter.ErrConfig) || !refused && err != nil {
				t.Errorf("%s with %s: %v; refused: %v", way, name, err, refused)
			}
		}
	}
}

// TestNewSizes: an empty Set has a size, of its own or by a number of keys, or grows; else the error says what to set.
func TestNewSizes(t *testing.T) {
	for _, c := range []bloomery.Config{
		{}, {Spec: "standard"}, {Spec: "standard(fpr=0.001)"}, {Spec: "blocked(bits_per_key=12)"}, {Spec: "counting"},
		{Spec: "rankindexed"}, {Spec: "rankindexed(bucket=512,fpr=0.01)"},
		{Spec: "twochoice"}, {Spec: "guava"}, {Spec: "spark"}, {Spec: "bitsandblooms"}, {Spec: "redisbloom(expansion=0)"},
		{Needs: plan.Needs{FPR: 0.01}}, {Needs: plan.Needs{BitsPerKey: 12}}, {Seed: 1}, {Spec: "blocked(layout=split)"},
	} {
		_, err := bloomery.New(c)
		if !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%v: %v", c, err)
			continue
		}
		for _, want := range []string{"Keys", "Capacity", "capacity=", "grows"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %q lacks %s", c, err, want)
			}
		}
	}
	for _, spec := range []string{"standard", "blocked(bytes=1000)", "rankindexed(capacity=99)"} {
		c := bloomery.Config{Spec: spec, Keys: 1000, MaxFPR: 0.001}
		if _, err := bloomery.New(c); !errors.Is(err, filter.ErrRate) {
			t.Errorf("%v: %v", c, err)
		}
		c.Keys, c.MaxFPR = 1000, 0.02
		if _, err := bloomery.New(c); err != nil && spec != "blocked(bytes=1000)" {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := bloomery.New(bloomery.Config{Needs: plan.Needs{Keys: 1000}}); !errors.Is(err, filter.ErrConfig) ||
		!strings.Contains(err.Error(), "set Config.Keys") {
		t.Error(err)
	}
	const keys = 1000
	for _, c := range []bloomery.Config{
		{Keys: keys}, {Capacity: keys}, {Spec: "standard", Capacity: keys}, {Spec: "blocked", Keys: 10, Capacity: keys},
		{Spec: "standard(capacity=1000)"}, {Spec: "standard(bytes=2000)"}, {Spec: "standard(k=7,m=10000)"},
		{Spec: "blocked(blocks=30,k=7,layout=line)"}, {Spec: "rankindexed(capacity=1000)"}, {Spec: "rankindexed", Capacity: keys},
		{Spec: "rankindexed(growth=20)"}, {Spec: "redisbloom"}, {Needs: plan.Needs{FPR: 0.01}, Capacity: keys},
		{Needs: plan.Needs{FPR: 0.01, Later: keys}}, {Needs: plan.Needs{Bytes: 2000}}, {Spec: "guava", Capacity: keys},
		{Spec: "bitsandblooms(bytes=2000)"}, {Spec: "standard(m=10000)"}, {Spec: "counting(m=10000)"},
		{Spec: "bitsandblooms(m=10000)"}, {Spec: "guava(words=160)"}, {Spec: "spark(words=160)"},
		{Spec: "blocked(blocks=20)"},
	} {
		s, err := bloomery.New(c)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		for i := range uint64(keys) {
			if err := bloomery.Keyed[uint64](s).Add(i); err != nil {
				t.Fatalf("%v: key %d: %v", c, i, err)
			}
		}
		if fpr := s.Info().FPRPosterior; fpr > 0.06 {
			t.Errorf("%v: rate %g", c, fpr)
		}
	}
}
