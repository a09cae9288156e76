package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
)

// TestShards builds a sharded set in one call and with a Builder, and opens it.
func TestShards(t *testing.T) {
	keys := words("key ", 3000)
	c := bloomery.Config{Spec: "fuse", Shards: 3, Dir: filepath.Join(t.TempDir(), "set")}
	one := built(t, keys, c)
	defer one.Close()
	c.Dir = t.TempDir()
	b := must(bloomery.NewBuilder(t.Context(), c))(t)
	defer b.Close()
	for _, k := range keys {
		if err := b.AddString(k); err != nil {
			t.Fatal(err)
		}
	}
	two := must(b.Build(t.Context()))(t)
	defer two.Close()
	opened := must(bloomery.Open(t.Context(), c.Dir))(t)
	defer opened.Close()
	m := one.Manifest()
	if !slices.Equal(m.Shards, two.Manifest().Shards) || len(m.Shards) != 3 || m.Keys() != 3000 || !one.Equal(opened) {
		t.Errorf("two ways to build a set: %+v and %+v", m.Shards, two.Manifest().Shards)
	}
	for _, s := range []*bloomery.Set{one, two, opened} {
		holds(t, s, keys)
		if err := s.Check(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
}
