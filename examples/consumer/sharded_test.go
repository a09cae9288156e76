package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestSharded builds, opens, checks and changes a sharded set.
func TestSharded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	keys := []string{"one", "two", "three", "four"}
	built := built(t, keys, bloomery.Config{Dir: dir, Spec: "standard(capacity=100,fpr=0.001)", Shards: 3})
	defer built.Close()
	set := must(bloomery.Open(t.Context(), dir))(t)
	defer set.Close()
	if err := set.Check(t.Context(), nil); err != nil {
		t.Error(err)
	}
	m := set.Manifest()
	if m.Spec != built.Manifest().Spec || set.Spec() != built.Spec() || len(m.Shards) != 3 || m.Keys() != 4 {
		t.Errorf("%+v", m)
	}
	for _, k := range keys {
		if present, err := set.ContainsContext(t.Context(), []byte(k)); !present || err != nil {
			t.Errorf("%s: %v, %v", k, present, err)
		}
	}
	one := must(bloomery.Open(t.Context(), filepath.Join(dir, m.Shards[0].File)))(t)
	defer one.Close()
	if one.Len() != m.Shards[0].Keys || one.Manifest() != nil || set.Len() != m.Keys() {
		t.Errorf("shard 0: %v", one)
	}
	if _, _, err := set.Get([]byte("one")); !errors.Is(err, filter.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := set.Trimmed(); !errors.Is(err, filter.ErrUnsupported) {
		t.Error(err)
	}

	l := must(bloomery.Lock(t.Context(), dir))(t)
	a := must(l.Addition(bloomery.JobConfig{}))(t)
	err := errors.Join(a.AddMany([][]byte{[]byte("five")}), a.AddMany([][]byte{[]byte("six")}))
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
