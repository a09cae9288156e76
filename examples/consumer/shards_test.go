package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/shardtest"
)

// TestShards builds a sharded set in one call and with a ShardBuilder, and opens it.
func TestShards(t *testing.T) {
	keys := words("key ", 3000)
	c := bloomery.Config{Spec: "fuse", Shards: 3}
	one, two := filepath.Join(t.TempDir(), "set"), t.TempDir()
	m := must(shardtest.Build(t.Context(), slices.Values(keys), one, c))(t)
	b := must(shardtest.NewBuilder(two, c))(t)
	defer b.Close()
	for _, k := range keys {
		if err := b.AddString(k); err != nil {
			t.Fatal(err)
		}
	}
	again := must(b.Build(t.Context()))(t)
	if !slices.Equal(m.Shards, again.Shards) || len(m.Shards) != 3 || m.Keys() != 3000 {
		t.Errorf("two ways to build a set: %+v and %+v", m.Shards, again.Shards)
	}
	set := must(bloomery.Open(t.Context(), one))(t)
	defer set.Close()
	for _, k := range keys {
		if !set.ContainsString(k) {
			t.Fatalf("%q is missing", k)
		}
	}
}
