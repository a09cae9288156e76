package settest_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/plan"
)

// encoded returns the file of a set.
func encoded(t *testing.T, s *bloomery.Set) []byte {
	t.Helper()
	var b bytes.Buffer
	settest.Must(s.WriteTo(&b))
	return b.Bytes()
}

// TestLike builds a Set of other keys like a mapped Set with a seed and a planned rate, in every family.
func TestLike(t *testing.T) {
	keys := settest.Words(5100)
	for _, f := range families.All() {
		t.Run(f.Name, func(t *testing.T) {
			c := bloomery.Config{Spec: settest.SpecOf(f), FPR: 0.25}
			if !f.Foreign() {
				c.Hashing.Seed = 9
			}
			path := filepath.Join(t.TempDir(), "old")
			settest.Check(t, settest.Build(t, keys[:5000], c).Save(t.Context(), path))
			old := settest.Must(bloomery.Open(t.Context(), path))
			defer old.Close()
			c = bloomery.Config{Like: bloomery.Like{Set: old}}
			set := settest.Build(t, keys[100:], c)
			for _, k := range keys[100:] {
				if !set.ContainsString(k) {
					t.Fatalf("%q is missing", k)
				}
			}
			like, model := set.Spec(), old.Spec()
			if f.Name == "ribbon" { // the parameters of ribbon follow from the keys
				for _, name := range []string{"seed", "starts", "tail", "tail_seed"} {
					like, model = family.Without(like, name), family.Without(model, name)
				}
			}
			if f.Name != "fuse" && f.Name != "redisbloom" && like != model {
				t.Errorf("%s like %s", set.Spec(), old.Spec())
			}
			if set.Hasher() != old.Hasher() || set.Info().FPRPlanned != 0.25 {
				t.Errorf("seed %d, planned rate %g", set.Hasher().Seed(), set.Info().FPRPlanned)
			}
			again := slices.Clone(keys[100:])
			slices.Reverse(again)
			c.Building.Workers, c.Building.Memory = 3, 4096
			if !f.Can.Has(family.CanRawKeys) && !bytes.Equal(encoded(t, settest.Build(t, again, c)), encoded(t, set)) {
				t.Error("the file depends on the order of the keys, the workers or the memory")
			}
		})
	}
}

// TestLikeForms checks that a Set like another one has its trimmed form, secret and concurrent form.
func TestLikeForms(t *testing.T) {
	keys := settest.Words(2000)
	secret := filter.NewSecret()
	full := settest.Build(t, keys, bloomery.Config{Spec: "rankindexed(capacity=3000)",
		Hashing: bloomery.Hashing{Secret: secret}})
	trimmed := settest.Must(full.Trimmed())
	file := encoded(t, trimmed)
	read, err := bloomery.FromBytes(file, bloomery.WithSecret(secret))
	settest.Check(t, err)
	for _, old := range []*bloomery.Set{trimmed, read} {
		if got := encoded(t, settest.Build(t, keys, bloomery.Config{Like: bloomery.Like{Set: old}})); !bytes.Equal(got,
			file) {
			t.Error("a trimmed set is followed by one in another form")
		}
	}
	shared := settest.Build(t, keys, bloomery.Config{Like: bloomery.Like{Set: trimmed}, Concurrent: true})
	if err := shared.AddString("one more"); err != nil || !shared.ContainsString("one more") {
		t.Error(err)
	}
	if set := settest.Build(t, keys, bloomery.Config{Like: bloomery.Like{Set: shared}}); !set.Equal(full) {
		t.Error("a concurrent set is followed by another one than its plain form")
	}
	_, err = bloomery.Build(t.Context(), slices.Values(settest.Words(9000)),
		bloomery.Config{Like: bloomery.Like{Set: full}})
	if !errors.Is(err, filter.ErrFull) {
		t.Errorf("three times as many keys as there is room for: %v", err)
	}
}

func TestLikeErrors(t *testing.T) {
	old := settest.Build(t, settest.Words(100), bloomery.Config{Spec: "standard"})
	for name, c := range map[string]bloomery.Config{
		"spec": {Spec: "standard"}, "needs": {Needs: plan.Needs{FPR: 0.1}}, "capacity": {Capacity: 7},
		"seed":        {Hashing: bloomery.Hashing{Seed: 1}},
		"secret":      {Hashing: bloomery.Hashing{Secret: filter.NewSecret()}},
		"hash":        {Hashing: bloomery.Hashing{ID: filter.XXH64}},
		"form":        {Hashing: bloomery.Hashing{Form: filter.KeyForm{Trim: true}}},
		"fpr_planned": {FPR: 0.1},
		"max_fpr":     {Limits: bloomery.Limits{FPR: 2}}, "shards": {Sharding: bloomery.Sharding{Shards: 2}},
		"empty": {Like: bloomery.Like{Set: new(bloomery.Set)}},
	} {
		if c.Like.Set == nil {
			c.Like.Set = old
		}
		if _, err := bloomery.NewBuilder(t.Context(), c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.Check(); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: Check: %v", name, err)
		}
	}
	like := bloomery.Config{Like: bloomery.Like{Set: old}}
	if err := like.Check(); err != nil {
		t.Error(err)
	}
	if _, err := bloomery.New(like); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("New: %v", err)
	}
	if _, err := like.Choose(t.Context()); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("Choose: %v", err)
	}
	c := bloomery.Config{Like: bloomery.Like{Set: old}, Sharding: bloomery.Sharding{Shards: 1}}
	if _, err := c.ForShard(t.Context()); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("ForShard: %v", err)
	}
	if _, err := settest.NewShardBuilder(t.TempDir(), like); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("NewBuilder with Dir: %v", err)
	}
	like.Keys = 5
	if _, err := bloomery.Build(t.Context(), slices.Values(settest.Words(6)), like); !errors.Is(err, filter.ErrKeys) {
		t.Errorf("another number of keys: %v", err)
	}
	like = bloomery.Config{Like: bloomery.Like{Set: old}, Limits: bloomery.Limits{FPR: 0.02}}
	if _, err := bloomery.Build(t.Context(), slices.Values(settest.Words(400)), like); !errors.Is(err, filter.ErrRate) {
		t.Errorf("a rate above Limits.FPR: %v", err)
	}
}

// TestLikeShards builds a sharded set like another one, also in the folder of the old set, and compares each shard with
// the result of Build.
func TestLikeShards(t *testing.T) {
	keys := settest.Words(9000)
	dir := filepath.Join(t.TempDir(), "old")
	first := bloomery.Config{Spec: "partitioned(effort=fast,fpr=0.01,later=900)", Hashing: bloomery.Hashing{Seed: 4},
		Sharding: bloomery.Sharding{Shards: 3}}
	was := settest.Must(settest.BuildShards(t.Context(), slices.Values(keys[:8000]), dir, first))
	old := settest.Must(bloomery.Open(t.Context(), dir))
	defer old.Close()
	next := filepath.Join(t.TempDir(), "next")
	m := settest.Must(settest.BuildShards(t.Context(), slices.Values(keys[500:]), next,
		bloomery.Config{Like: bloomery.Like{Set: old}}))
	if m.ID() != was.ID() || m.FPRPlanned != 0.01 || m.Keys() != 8500 {
		t.Errorf("plan %s like %s, planned rate %g, %d keys", m.ID(), was.ID(), m.FPRPlanned, m.Keys())
	}
	files := settest.FilesOf(t, next)
	for i := range 3 {
		one := settest.Shard(t, dir, old, i)
		set := settest.Build(t, settest.OfShard(keys[500:], old.Hasher(), i, 3),
			bloomery.Config{Like: bloomery.Like{Set: one}})
		if files[m.Shards[i].File] != string(encoded(t, set)) {
			t.Errorf("shard %d is not what Build makes of its keys", i)
		}
	}
	optimizer := settest.Must(old.Optimizer(bloomery.JobConfig{Effort: filter.Effort{Level: filter.Keep}}))
	defer optimizer.Close()
	settest.Check(t, optimizer.AddMany(settest.AsKeys(keys[500:])))
	kept := settest.Must(optimizer.Commit(t.Context()))
	read := settest.Must(bloomery.Open(t.Context(), next))
	defer read.Close()
	if !kept.Equal(read) {
		t.Error("an Optimizer that keeps the shifts makes another set")
	}
	if _, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Like: bloomery.Like{Set: old}}); !errors.Is(err,
		filter.ErrConfig) {
		t.Errorf("a Builder like a sharded set: %v", err)
	}
	again := bloomery.Config{Like: bloomery.Like{Set: old}, Sharding: bloomery.Sharding{Shards: 4}}
	if _, err := settest.NewShardBuilder(dir, again); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("another number of shards: %v", err)
	}
	again.Sharding.Shards = 0
	m = settest.Must(settest.BuildShards(t.Context(), slices.Values(keys[500:]), dir, again))
	if len(settest.FilesOf(t, dir)) != 4 || m.Keys() != 8500 {
		t.Errorf("in the old folder: %d files, %d keys", len(settest.FilesOf(t, dir)), m.Keys())
	}
}

// TestLikeSample checks that the new list of a counting filter may be far longer than the old one.
func TestLikeSample(t *testing.T) {
	config := bloomery.Config{Spec: "counting(capacity=400000)"}
	old := settest.Build(t, slices.Repeat(settest.Names("old", 100), 4), config)
	config = bloomery.Config{Like: bloomery.Like{Set: old}}
	list := append(settest.Names("old", 100), settest.Names("new", 300_000)...)
	if set := settest.Build(t, list, config); !set.ContainsString("new-0") && !set.ContainsString(list[len(list)-1]) {
		t.Error("keys are lost")
	}
	b := settest.Must(bloomery.NewBuilder(t.Context(), config))
	defer b.Close()
	for i := range 300_000 {
		settest.Check(t, b.AddString(fmt.Sprint(i)))
	}
	if _, err := b.Build(t.Context()); err != nil {
		t.Error(err)
	}
}
