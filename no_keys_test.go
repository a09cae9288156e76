package bloomery_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// TestNoKeys: Sets of no keys answer no, alone and in batches, in memory, from a file, with exceptions, and in folders
// whose shards are all empty, or all but one.
func TestNoKeys(t *testing.T) {
	const asked = 100_000
	keys, found := make([]uint64, asked), make([]bool, asked)
	for i := range keys {
		keys[i] = uint64(i)
	}
	none := func(t *testing.T, what string, s *bloomery.Set, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		defer s.Close()
		k := bloomery.Keyed[uint64](s)
		k.ContainsMany(found, keys)
		wrong := 0
		for i, key := range keys {
			if found[i] || k.Contains(key) {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%s, %v: %d of %d keys are present", what, s, wrong, asked)
		}
	}
	for _, f := range families.All() {
		t.Run(f.Name, func(t *testing.T) {
			ctx := t.Context()
			c := bloomery.Config{Spec: f.Name}
			set, err := bloomery.Build(ctx, slices.Values[[]uint64](nil), c)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "empty.bloom")
			if err := set.Save(ctx, path); err != nil {
				t.Fatal(err)
			}
			none(t, "built", set, nil)
			set, err = bloomery.Open(ctx, path)
			none(t, "opened", set, err)
			set, err = bloomery.Open(ctx, path, bloomery.InMemory())
			none(t, "read", set, err)
			if f.Foreign() || f.Can.Has(family.CanRawKeys) {
				return
			}
			c.Allow = slices.Values([][]byte{[]byte("a")})
			set, err = bloomery.Build(ctx, slices.Values[[]uint64](nil), c)
			none(t, "with exceptions", set, err)
			c.Allow, c.Shards = nil, 4
			c.Dir = t.TempDir()
			set, err = bloomery.Build(ctx, slices.Values[[]uint64](nil), c)
			none(t, "sharded", set, err)

			c.Dir = t.TempDir()
			set, err = bloomery.Build(ctx, slices.Values([]uint64{0}), c)
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			k, home := bloomery.Keyed[uint64](set), shard.Route(set.Hasher().SumUint64(0), c.Shards)
			k.ContainsMany(found, keys)
			for i, key := range keys {
				if (found[i] || k.Contains(key)) && shard.Route(set.Hasher().SumUint64(key), c.Shards) != home {
					t.Fatalf("%d is present in an empty shard", key)
				}
			}
		})
	}
}
