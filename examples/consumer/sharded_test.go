package main

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/handle"
	"github.com/bloomery/bloomery/internal/shardtest"
)

// TestSharded builds, opens, checks and changes a sharded set.
func TestSharded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	keys := []string{"one", "two", "three", "four"}
	c := bloomery.Config{Spec: "standard(capacity=100,fpr=0.001)", Shards: 3}
	built := must(shardtest.Build(t.Context(), slices.Values(keys), dir, c))(t)
	set := must(bloomery.Open(t.Context(), dir))(t)
	defer set.Close()
	if err := set.Check(t.Context(), nil); err != nil {
		t.Error(err)
	}
	m := set.Manifest()
	if m.Spec != built.Spec || len(m.Shards) != 3 || m.Keys() != 4 {
		t.Errorf("%+v", m)
	}
	for _, k := range keys {
		if present, err := set.ContainsContext(t.Context(), []byte(k)); !present || err != nil {
			t.Errorf("%s: %v, %v", k, present, err)
		}
	}
	one := must(set.Shard(0))(t)
	if one.Len() != m.Shards[0].Keys || handle.Filter(one) == nil || handle.Filter(set) != nil {
		t.Errorf("shard 0: %v", one)
	}
	if _, err := engine.ValueBits(handle.Engine(set)); !errors.Is(err, filter.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := set.Full(); !errors.Is(err, filter.ErrUnsupported) {
		t.Error(err)
	}

	l := must(bloomery.Lock(t.Context(), dir))(t)
	a := must(l.Addition(bloomery.JobConfig{}))(t)
	err := errors.Join(a.AddMany([][]byte{[]byte("five")}), addHashes(a, []filter.Hash{l.Hasher().SumString("six")}))
	if err = errors.Join(err, a.Commit(t.Context()), a.Close(), l.Commit(t.Context()), l.Close()); err != nil {
		t.Fatal(err)
	}
	now := must(bloomery.Open(t.Context(), dir))(t)
	defer now.Close()
	if now.Len() != 6 || !now.ContainsString("six") {
		t.Errorf("%v", now)
	}
	if _, err := bloomery.Open(t.Context(), t.TempDir()); !errors.Is(err, filter.ErrNoManifest) {
		t.Error(err)
	}
}
