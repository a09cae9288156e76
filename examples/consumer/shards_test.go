package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// TestShards builds a sharded set in one call and with a Builder, and opens it.
func TestShards(t *testing.T) {
	keys := words("key ", 3000)
	c := bloomery.Config{Spec: "fuse", Sharding: bloomery.Sharding{Shards: 3, Dir: filepath.Join(t.TempDir(), "set")}}
	one := built(t, keys, c)
	defer one.Close()
	c.Sharding.Dir = t.TempDir()
	b := must(bloomery.NewBuilder(t.Context(), c))(t)
	defer b.Close()
	for _, k := range keys {
		if err := b.AddString(k); err != nil {
			t.Fatal(err)
		}
	}
	two := must(b.Build(t.Context()))(t)
	defer two.Close()
	opened := must(bloomery.Open(t.Context(), c.Sharding.Dir))(t)
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

// TestBlocks answers each query from one block of a file of a sharded set.
func TestBlocks(t *testing.T) {
	keys, secret := words("key ", 3000), filter.NewSecret()
	for _, spec := range []string{"blocked(fpr=0.01)", "blockpartitioned(bits_per_key=10,effort=fast)"} {
		c := bloomery.Config{Spec: spec, Sharding: bloomery.Sharding{Shards: 3, Dir: filepath.Join(t.TempDir(), "set")},
			Hashing: bloomery.Hashing{Secret: secret}}
		set := built(t, keys, c)
		defer set.Close()
		m := set.Manifest()
		if err := m.CheckBlocks(); err != nil || len(m.ID()) != 32 {
			t.Errorf("%s: plan %s, %v", spec, m.ID(), err)
		}
		h := must(m.Hasher(secret))(t)
		if _, err := m.Hasher(nil); !errors.Is(err, filter.ErrNoSecret) {
			t.Errorf("%s: without the secret: %v", spec, err)
		}
		if _, err := m.Hasher(filter.NewSecret()); !errors.Is(err, filter.ErrSecret) {
			t.Errorf("%s: another secret: %v", spec, err)
		}

		var files [][]byte
		var all []*shard.Blocks
		for i, e := range m.Shards {
			file := must(os.ReadFile(filepath.Join(c.Sharding.Dir, e.File)))(t)
			head := file[:min(len(file), shard.MaxHeader)]
			files, all = append(files, file), append(all, must(m.Blocks(i, head))(t))
			if _, err := m.Blocks((i+1)%3, head); !errors.Is(err, shard.ErrForeign) {
				t.Errorf("%s: the header of another shard: %v", spec, err)
			}
			for n := range 100 {
				if _, err := m.Blocks(i, head[:n]); err == nil {
					t.Errorf("%s: the first %d bytes are a header", spec, n)
				}
				damaged := slices.Clone(head)
				damaged[n] ^= 1
				if _, err := m.Blocks(i, damaged); err == nil {
					t.Errorf("%s: bit %d of the header is not compared", spec, 8*n)
				}
			}
		}
		for _, k := range append(keys, words("absent ", 3000)...) {
			hash := h.SumString(k)
			i := shard.Route(hash, len(m.Shards))
			at, n := all[i].Block(hash)
			if got, want := all[i].Contains(files[i][at:][:n], hash), set.ContainsString(k); got != want {
				t.Fatalf("%s: %s is %t, want %t", spec, k, got, want)
			}
		}
	}
	c := bloomery.Config{Spec: "ribbon", Sharding: bloomery.Sharding{Shards: 3, Dir: filepath.Join(t.TempDir(), "set")}}
	set := built(t, keys, c)
	defer set.Close()
	_, err := set.Manifest().Blocks(0, nil)
	if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(set.Manifest().CheckBlocks(), errors.ErrUnsupported) {
		t.Errorf("a family whose queries read several blocks: %v", err)
	}
}

// TestSharded builds, opens, checks and changes a sharded set.
func TestSharded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	keys := []string{"one", "two", "three", "four"}
	built := built(t, keys, bloomery.Config{Sharding: bloomery.Sharding{Dir: dir, Shards: 3},
		Spec: "standard(capacity=100,fpr=0.001)"})
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
