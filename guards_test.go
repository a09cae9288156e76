package bloomery_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardtest"
	"github.com/bloomery/bloomery/plan"
)

// TestOptimizeSmallShards: the loss of an optimized set is that of all shards together. Of small ones some lose most of
// their keys by chance.
func TestOptimizeSmallShards(t *testing.T) {
	dir, keys := t.TempDir(), names("member", 600)
	writeShards(t, dir, bloomery.Config{Spec: "partitioned(bits_per_key=16)"}, 128, keys)
	set, err := bloomery.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	optimize := func(keys []string) error {
		b, err := set.Optimizer(bloomery.JobConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if err := b.AddMany(asKeys(keys)); err != nil {
			t.Fatal(err)
		}
		_, err = b.Commit(t.Context())
		return err
	}
	if err := optimize(keys[:540]); err != nil {
		t.Errorf("10%% are lost: %v", err)
	}
	if err := optimize(keys[:200]); !errors.Is(err, filter.ErrShrunk) {
		t.Errorf("two thirds are lost: %v", err)
	}
}

// TestMaxBytesLikeShards: MaxBytes bounds all shards together, also with Like.
func TestMaxBytesLikeShards(t *testing.T) {
	dir := t.TempDir()
	writeShards(t, dir, bloomery.Config{Spec: "blocked(bytes=4096)"}, 16, names("member", 1000))
	old, err := bloomery.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	for limit, want := range map[uint64]error{16 * 4096: nil, 20_000: filter.ErrTooLarge} {
		b, err := shardtest.NewBuilder(t.TempDir(), bloomery.Config{Like: old, MaxBytes: limit})
		if !errors.Is(err, want) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if err == nil {
			_ = b.Close()
		}
	}
}

// TestValuesWithoutNumber: a filter with values is chosen before its keys are counted. What depends on their number is
// refused, with the field that mends it.
func TestValuesWithoutNumber(t *testing.T) {
	for _, n := range []plan.Needs{{ValueBits: 8, Add: true}, {ValueBits: 8, Later: 100},
		{ValueBits: 8, Bytes: 8000}, {ValueBits: 8, BitsPerKey: 40}} {
		var bad *filter.ConfigError
		_, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Needs: n})
		if !errors.As(err, &bad) || bad.Field != "keys" {
			t.Errorf("%+v: %v", n, err)
		}
		b, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Needs: n, Keys: 1000})
		if err != nil {
			t.Errorf("%+v with 1000 keys: %v", n, err)
			continue
		}
		_ = b.Close()
	}
}

// TestStrayShard: a file with a name of shards is not written into the folder of a set, whose next writer would remove
// it.
func TestStrayShard(t *testing.T) {
	dir := t.TempDir()
	writeShards(t, dir, bloomery.Config{Spec: "blocked(bytes=4096)"}, 2, names("member", 100))
	one := build(t, names("member", 10), bloomery.Config{Spec: "blocked(bytes=4096)"})
	for _, name := range []string{"00000-of-00002.bloom", "00001-of-00003.bloom"} {
		if err := one.Save(t.Context(), filepath.Join(dir, name)); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := one.Save(t.Context(), filepath.Join(dir, "mine.bloom")); err != nil {
		t.Error(err)
	}
}

// TestLikeSample: the new list of a counting filter may be far longer than the old one.
func TestLikeSample(t *testing.T) {
	config := bloomery.Config{Spec: "counting(capacity=400000)"}
	old := build(t, slices.Repeat(names("old", 100), 4), config)
	config = bloomery.Config{Like: old}
	list := append(names("old", 100), names("new", 300_000)...)
	if set := build(t, list, config); !set.ContainsString("new-0") && !set.ContainsString(list[len(list)-1]) {
		t.Error("keys are lost")
	}
	b, err := bloomery.NewBuilder(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for i := range 300_000 {
		if err := b.AddString(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Build(t.Context()); err != nil {
		t.Error(err)
	}
}
