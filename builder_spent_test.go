package bloomery_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardtest"
	"github.com/bloomery/bloomery/plan"
)

// adder is what Builders of one filter and of a sharded set have in common.
type adder interface {
	Add([]byte) error
	AddString(string) error
	AddHashes([]filter.Hash) error
	AddMany([][]byte) error
	AddManyValues([][]byte, []uint64) error
	Close() error
}

// waysToAdd has every method of a builder that takes keys, and whether it takes values.
func waysToAdd(b adder) map[string]func() error {
	key, h := []byte("late"), filter.NewHasher(0).SumString("late")
	ways := map[string]func() error{
		"Add":           func() error { return b.Add(key) },
		"AddString":     func() error { return b.AddString("late") },
		"AddHashes":     func() error { return b.AddHashes([]filter.Hash{h}) },
		"AddMany":       func() error { return b.AddMany([][]byte{key}) },
		"AddManyValues": func() error { return b.AddManyValues([][]byte{key}, []uint64{1}) },
		"no keys":       func() error { return b.AddMany(nil) },
	}
	if one, ok := b.(*bloomery.Builder); ok {
		ways["AddValue"] = func() error { return one.AddValue(key, 1) }
		ways["AddHashValues"] = func() error { return one.AddHashValues([]filter.Hash{h}, []uint64{1}) }
	}
	return ways
}

// spent wants an error of every way to add keys, since no Build will contain them.
func spent(t *testing.T, what string, b adder) {
	t.Helper()
	for way, add := range waysToAdd(b) {
		if err := add(); !errors.Is(err, bloomery.ErrSpent) && !errors.Is(err, filter.ErrUnsupported) {
			t.Errorf("%s: %s: %v", what, way, err)
		}
	}
}

// buildersOf are Configs whose Builders gather keys in each of the ways that there are.
var buildersOf = map[string]bloomery.Config{
	"counted first": {}, "known": {Keys: 3}, "gathered": {Spec: "ribbon(r=8)"}, "searched": {Spec: "partitioned"},
	"values": {Spec: "ribbon(value_bits=8)", Keys: 3}, "raw keys": {Spec: "bitsandblooms"},
	"raw keys, known": {Spec: "bitsandblooms", Keys: 3}, "planned": {Needs: plan.Needs{FPR: 0.01}},
	"allowed":        {Spec: "standard", Allow: func(func([]byte) bool) {}},
	"allowed, known": {Spec: "standard", Keys: 3, Allow: func(func([]byte) bool) {}},
}

// TestAddAfterBuild adds keys to builders that were built, whose Build failed, or that were closed.
func TestAddAfterBuild(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range buildersOf {
		ends := map[string]func(b *bloomery.Builder) error{
			"Build": func(b *bloomery.Builder) error {
				for _, k := range []uint64{1, 2, 3} {
					if err := errors.Join(b.AddUint64(k), b.AddUint64(k)); c.Keys == 0 && err != nil {
						return err
					}
				}
				if _, err := b.Build(t.Context()); c.Keys == 0 {
					return err
				}
				return nil // it fails: the number of keys is wrong
			},
			"Close": func(b *bloomery.Builder) error { return b.Close() },
			"Build with an ended context": func(b *bloomery.Builder) error {
				_, _ = b.Build(ended)
				return nil
			},
		}
		for how, end := range ends {
			b, err := bloomery.NewBuilder(t.Context(), c)
			if err != nil {
				t.Fatal(name, err)
			}
			if err := end(b); err != nil {
				t.Fatal(name, how, err)
			}
			spent(t, name+", after "+how, b)
			if _, err := b.Build(t.Context()); !errors.Is(err, bloomery.ErrSpent) {
				t.Errorf("%s: Build after %s: %v", name, how, err)
			}
			if err := errors.Join(b.Close(), b.Close()); err != nil {
				t.Errorf("%s: Close after %s: %v", name, how, err)
			}
			spent(t, name+", after "+how+" and Close", b)
		}
	}
}

// TestOptimizerAfterBuild is TestAddAfterBuild for an Optimizer, of one file and of a sharded set.
func TestOptimizerAfterBuild(t *testing.T) {
	keys := []string{"a", "b", "c"}
	dir := filepath.Join(t.TempDir(), "set")
	_, err := shardtest.Build(t.Context(), slices.Values(keys), dir, bloomery.Config{Spec: "partitioned", Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	sharded, err := bloomery.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer sharded.Close()
	for name, set := range map[string]*bloomery.Set{
		"file": build(t, keys, bloomery.Config{Spec: "partitioned"}), "sharded": sharded,
	} {
		b, err := set.Optimizer(bloomery.JobConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if err := b.AddMany([][]byte{[]byte(k)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.AddMany([][]byte{[]byte("d")}); !errors.Is(err, bloomery.ErrSpent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestShardedBuilderAfterBuild is TestAddAfterBuild for a Builder of a sharded set.
func TestShardedBuilderAfterBuild(t *testing.T) {
	for name, c := range map[string]bloomery.Config{
		"counted first": {}, "known": {Shards: 2}, "values": {Spec: "ribbon(value_bits=8)", Shards: 2},
		"planned": {Needs: plan.Needs{FPR: 0.01}, Shards: 2}, "allowed": {Shards: 2, Allow: func(func([]byte) bool) {}},
	} {
		for how, end := range map[string]func(b *shardtest.Builder) error{
			"Build": func(b *shardtest.Builder) error {
				if err := errors.Join(b.AddString("a"), b.AddString("b")); err != nil {
					return err
				}
				_, err := b.Build(t.Context())
				if c.Spec != "" {
					err = nil // the keys have no values
				}
				return err
			},
			"Close": func(b *shardtest.Builder) error { return b.Close() },
		} {
			b, err := shardtest.NewBuilder(filepath.Join(t.TempDir(), "set"), c)
			if err != nil {
				t.Fatal(err)
			}
			if err := end(b); err != nil {
				t.Fatal(name, how, err)
			}
			spent(t, name+", after "+how, b)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestGatherersAfterEnd: what else gathers keys for one last call does not drop keys that come later either.
func TestGatherersAfterEnd(t *testing.T) {
	keys := [][]byte{[]byte("a"), []byte("b")}
	dir := filepath.Join(t.TempDir(), "set")
	_, err := shardtest.Build(t.Context(), slices.Values([]string{"a", "b"}), dir,
		bloomery.Config{Spec: "rankindexed(capacity=1000)", Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	sharded, err := bloomery.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer sharded.Close()
	one := build(t, []string{"a", "b"}, bloomery.Config{Spec: "rankindexed(capacity=1000)"})
	for form, set := range map[string]*bloomery.Set{"file": one, "sharded": sharded} {
		r, err := set.Removal(bloomery.JobConfig{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := set.Addition(bloomery.JobConfig{})
		if err != nil {
			t.Fatal(err)
		}
		r.Force()
		v := must(set.Verifier(bloomery.JobConfig{}))
		for what, g := range map[string]struct{ add, end, close func() error }{
			"Addition": {func() error { return a.AddMany(keys) }, func() error { return a.Commit(t.Context()) }, a.Close},
			"Removal": {func() error { return r.AddMany(keys) }, func() error {
				_, err := r.Commit(t.Context())
				return err
			}, r.Close},
			"Verifier": {func() error { return v.AddAbsent(keys) }, func() error {
				_, err := v.Commit(t.Context())
				return err
			}, v.Close},
		} {
			if err := errors.Join(g.add(), g.end()); err != nil {
				t.Fatal(form, what, err)
			}
			if g.add() == nil {
				t.Errorf("%s: %s takes keys after its end", form, what)
			}
			if err := g.close(); err != nil {
				t.Error(err)
			}
			if g.add() == nil {
				t.Errorf("%s: %s takes keys after Close", form, what)
			}
		}
	}
}
