package bloomery_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardtest"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// TestContradictions refuses a Config whose fields contradict each other, wherever one is taken.
func TestContradictions(t *testing.T) {
	one, needs := []string{"a"}, plan.Needs{FPR: 0.01}
	dir := func() string { return filepath.Join(t.TempDir(), "set") }
	set := build(t, one, bloomery.Config{Spec: "rankindexed(capacity=1000)"})
	searched := build(t, one, bloomery.Config{Spec: "partitioned"})
	ways := map[string]func(c bloomery.Config) error{
		"New": func(c bloomery.Config) error { _, err := bloomery.New(c); return err },
		"NewBuilder": func(c bloomery.Config) error {
			b, err := bloomery.NewBuilder(t.Context(), c)
			if err != nil {
				return err
			}
			return b.Close()
		},
		"Build": func(c bloomery.Config) error {
			_, err := bloomery.Build(t.Context(), slices.Values(one), c)
			return err
		},
		"Check":   func(c bloomery.Config) error { return c.Check() },
		"Choose":  func(c bloomery.Config) error { _, err := c.Choose(t.Context()); return err },
		"Resolve": func(c bloomery.Config) error { _, err := c.Resolve(t.Context()); return err },
		"ForShard": func(c bloomery.Config) error {
			c.Shards = max(c.Shards, 1)
			_, err := c.ForShard(t.Context())
			return err
		},
		"BuildDir": func(c bloomery.Config) error {
			_, err := shardtest.Build(t.Context(), slices.Values(one), dir(), c)
			return err
		},
		"Optimizer": func(c bloomery.Config) error { _, err := searched.Optimizer(jobOf(c)); return err },
		"Removal":   func(c bloomery.Config) error { _, err := set.Removal(jobOf(c)); return err },
		"Addition":  func(c bloomery.Config) error { _, err := set.Addition(jobOf(c)); return err },
	}
	const all = "New NewBuilder Build Check Choose Resolve ForShard BuildDir Optimizer Removal Addition"
	for name, c := range map[string]struct {
		config bloomery.Config
		ways   string // in which the Config is refused
	}{
		"Spec and Needs": {bloomery.Config{Spec: "standard", Needs: needs},
			"New NewBuilder Build Check Choose Resolve ForShard BuildDir"},
		"negative Workers":   {bloomery.Config{Workers: -1}, all},
		"negative Memory":    {bloomery.Config{Memory: -1}, all},
		"negative Shards":    {bloomery.Config{Shards: -1}, "New NewBuilder Build Check Choose Resolve BuildDir"},
		"Shards of a filter": {bloomery.Config{Spec: "standard", Shards: 4}, "New NewBuilder Build"},
		"Shards and Needs":   {bloomery.Config{Needs: needs, Shards: 4}, "New NewBuilder Build"},
		"rate above 1": {bloomery.Config{MaxFPR: 1.5},
			"New NewBuilder Build Check Choose Resolve ForShard BuildDir Optimizer"},
		"negative needs": {bloomery.Config{Needs: plan.Needs{ValueBits: -1}, Keys: 1},
			"New NewBuilder Build Choose Resolve ForShard BuildDir"},
		"negative time": {bloomery.Config{Needs: plan.Needs{Build: -time.Second}, Keys: 1},
			"New NewBuilder Build Choose Resolve ForShard BuildDir"},
		"Secret and Seed": {bloomery.Config{Secret: filter.NewSecret(), Seed: 1},
			"New NewBuilder Build Check BuildDir"},
		"Secret and Hash": {
			bloomery.Config{Spec: "blocked(layout=split)", Secret: filter.NewSecret(), Hash: filter.XXH64},
			"New NewBuilder Build Check BuildDir",
		},
	} {
		for _, way := range strings.Fields(c.ways) {
			if err := ways[way](c.config); !errors.Is(err, filter.ErrConfig) {
				t.Errorf("%s: %s: %v", name, way, err)
			}
		}
	}
}

// TestNewNeedsAdd: a filter that starts empty takes keys, whatever else is needed.
func TestNewNeedsAdd(t *testing.T) {
	for _, c := range []bloomery.Config{
		{Needs: plan.Needs{FPR: 0.01}, Keys: 1000}, {Needs: plan.Needs{FPR: 0.001, Merge: true}, Keys: 1000},
		{Capacity: 1000}, {Needs: plan.Needs{BitsPerKey: 12}, Keys: 1000}, {Needs: plan.Needs{FPR: 0.01}, Capacity: 500},
	} {
		s, err := bloomery.New(c)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		for i := range uint64(500) {
			if err := bloomery.Keyed[uint64](s).Add(i); err != nil || !bloomery.Keyed[uint64](s).Contains(i) {
				t.Fatalf("%v: key %d: %v", c, i, err)
			}
		}
	}
}

// TestMaxBytes refuses what a Config from outside asks for, before memory is allocated for it.
func TestMaxBytes(t *testing.T) {
	const limit = 1 << 20
	few := []string{"a", "b", "c"}
	for name, c := range map[string]bloomery.Config{
		"bytes": {Spec: "standard(bytes=1099511627776)"}, "bits": {Spec: "standard(k=3,m=8796093022208)"},
		"keys": {Keys: 1 << 36}, "capacity": {Spec: "rankindexed(capacity=100000000000)"},
		"blocks":            {Spec: "blocked(blocks=4294967296)"},
		"needs":             {Needs: plan.Needs{FPR: 0.01}, Keys: 1 << 34},
		"capacity of needs": {Needs: plan.Needs{FPR: 0.01}, Capacity: 1 << 34},
		"bits a key":        {Spec: "standard(bits_per_key=4096)", Keys: 1 << 30},
		"raw keys":          {Spec: "bitsandblooms(bytes=1099511627776)"},
		"counting":          {Spec: "counting(bytes=1099511627776)"},
		"searched":          {Spec: "partitioned(bits_per_key=8)", Keys: 1 << 30},
		"fuse":              {Spec: "fuse", Keys: 1 << 30}, "ribbon": {Spec: "ribbon(r=8)", Keys: 1 << 40},
		"little": {Spec: "standard(bytes=1048584)"},
	} {
		for way, make := range map[string]func(c bloomery.Config) error{
			"New": func(c bloomery.Config) error { _, err := bloomery.New(c); return err },
			"Build": func(c bloomery.Config) error {
				_, err := bloomery.Build(t.Context(), slices.Values(few), c)
				return err
			},
			"BuildDir": func(c bloomery.Config) error {
				c.Shards = 4
				_, err := shardtest.Build(t.Context(), slices.Values(few), filepath.Join(t.TempDir(), "set"), c)
				return err
			},
		} {
			c.MaxBytes = limit
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := make(c)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 32*limit {
				t.Errorf("%s: %s allocates %d bytes", name, way, n)
			}
			if errors.Is(err, filter.ErrUnsupported) || errors.Is(err, filter.ErrConfig) {
				continue // this way does not take the family, or the geometry of one filter for a set
			}
			if !errors.Is(err, filter.ErrTooLarge) {
				t.Errorf("%s: %s: %v", name, way, err)
			}
		}
	}
	for name, c := range map[string]bloomery.Config{
		"default": {}, "known": {Keys: 3}, "at the limit": {Spec: "standard(bytes=1048576)"}, "ribbon": {Spec: "ribbon(r=8)"},
		"raw": {Spec: "bitsandblooms", Keys: 3}, "needs": {Needs: plan.Needs{FPR: 0.01}},
	} {
		c.MaxBytes = limit
		if _, err := bloomery.Build(t.Context(), slices.Values(few), c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The keys are more than the limit has room for, and their number is known only after them.
	for _, spec := range []string{"standard", "ribbon(r=8)", "partitioned", "bitsandblooms", "fuse", "rankindexed"} {
		c := bloomery.Config{Spec: spec, MaxBytes: 1000}
		if _, err := bloomery.Build(t.Context(), slices.Values(words(5000)), c); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: 5000 keys in 1000 bytes: %v", spec, err)
		}
		dir := filepath.Join(t.TempDir(), "set")
		_, err := shardtest.Build(t.Context(), slices.Values(words(5000)), dir, c)
		if !errors.Is(err, filter.ErrTooLarge) && !errors.Is(err, filter.ErrUnsupported) {
			t.Errorf("%s: 5000 keys in shards of 1000 bytes: %v", spec, err)
		}
	}
}

// TestMaxBytesLike bounds a filter that is like another one.
func TestMaxBytesLike(t *testing.T) {
	old := build(t, words(5000), bloomery.Config{})
	n := fileBytes(t, old)
	for limit, want := range map[uint64]error{n / 2: filter.ErrTooLarge, 2 * n: nil} {
		_, err := bloomery.Build(t.Context(), slices.Values(words(5000)), bloomery.Config{Like: old, MaxBytes: limit})
		if !errors.Is(err, want) {
			t.Errorf("limit %d of %d: %v", limit, n, err)
		}
	}
}

// TestConfigString prints the names of fields that are set, and of Like, Allow and the secret only that they are.
func TestConfigString(t *testing.T) {
	for want, c := range map[string]bloomery.Config{
		"bloomery.Config{}": {},
		"bloomery.Config{Spec:standard(fpr=0.01) Keys:5}": {Spec: "standard(fpr=0.01)", Keys: 5},
		"bloomery.Config{Secret:... Hash:xxh64}":          {Secret: filter.NewSecret(), Hash: filter.XXH64},
		"bloomery.Config{Allow:...}":                      {Allow: func(func([]byte) bool) {}},
		"bloomery.Config{Like:...}":                       {Like: build(t, []string{"a"}, bloomery.Config{})},
	} {
		if got := c.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestLockedClosed: a lock that was released protects nothing, so that Replace must not write.
func TestLockedClosed(t *testing.T) {
	keys := slices.Values([]string{"a", "b"})
	file, dir := filepath.Join(t.TempDir(), "f.bloom"), filepath.Join(t.TempDir(), "set")
	set, err := bloomery.Build(t.Context(), keys, bloomery.Config{Spec: "standard"})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Save(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if _, err := shardtest.Build(t.Context(), keys, dir, bloomery.Config{Spec: "standard", Shards: 2}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, dir} {
		l, err := bloomery.Lock(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.AddString("c"), l.Close()); err != nil {
			t.Fatal(err)
		}
		before := filesOf(t, filepath.Dir(file))
		for what, replace := range map[string]func(context.Context) error{
			"Replace":     l.Commit,
			"ReplaceWith": func(ctx context.Context) error { return bloomery.CommitWith(ctx, l, set) },
		} {
			if err := replace(t.Context()); !errors.Is(err, bloomery.ErrUnlocked) {
				t.Errorf("%s of %s after Close: %v", what, filepath.Base(path), err)
			}
		}
		if err := l.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
		if after := filesOf(t, filepath.Dir(file)); !reflect.DeepEqual(before, after) {
			t.Errorf("%s: files changed", path)
		}
		again, err := bloomery.Lock(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if again.ContainsString("c") {
			t.Errorf("%s has the key that was not replaced", path)
		}
		if err := errors.Join(again.AddString("d"), again.Commit(t.Context()), again.Close()); err != nil {
			t.Error(err)
		}
	}
}

// jobOf returns the fields of a Config that a job has.
func jobOf(c bloomery.Config) bloomery.JobConfig {
	return bloomery.JobConfig{Memory: c.Memory, TempDir: c.TempDir, Workers: c.Workers, MaxFPR: c.MaxFPR, Shrink: c.Shrink}
}

// TestCheckDir: Check knows what NewBuilder refuses of a Config with Dir or Shards, before the keys.
func TestCheckDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	sharded := build(t, words(100), bloomery.Config{Dir: dir + "0", Shards: 3})
	defer sharded.Close()
	for text, c := range map[string]bloomery.Config{
		"":               {Dir: dir},
		"number":         {Dir: dir, Shards: 3},
		"needs":          {Dir: dir, Shards: 3, Needs: plan.Needs{FPR: 0.01}},
		"needs secret":   {Dir: dir, Secret: filter.NewSecret(), Capacity: 1000},
		"!no folder":     {Shards: 3},
		"!many":          {Dir: dir, Shards: shard.Max + 1},
		"!negative":      {Dir: dir, Shards: -1},
		"!writers":       {Dir: dir, Concurrent: true},
		"!needs":         {Dir: dir, Concurrent: true, Needs: plan.Needs{FPR: 0.01}},
		"!like, writers": {Dir: dir, Like: sharded, Concurrent: true},
		"like":           {Dir: dir, Like: sharded},
		"!needs, many":   {Dir: dir, Shards: shard.Max + 1, Needs: plan.Needs{FPR: 0.01}},
		"!raw keys":      {Dir: dir, Spec: "bitsandblooms(fpr=0.01)"},
		"!fixed size":    {Dir: dir, Shards: 2, Spec: "standard(m=1000,k=3)"},
		"!like":          {Dir: dir, Like: build(t, words(10), bloomery.Config{})},
	} {
		err := c.Check()
		b, made := bloomery.NewBuilder(t.Context(), c)
		if made == nil {
			made = b.Close()
		}
		if bad := strings.HasPrefix(text, "!"); bad != (err != nil) || bad != (made != nil) {
			t.Errorf("%q: Check: %v; NewBuilder: %v", text, err, made)
		}
	}
}
