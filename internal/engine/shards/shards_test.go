package shards

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// TestEngine checks the engine of a folder through the methods that a Set uses. A query must use the shard of its key,
// even if the shard cannot be read.
func TestEngine(t *testing.T) {
	dir := t.TempDir()
	to, err := shardset.LockFolder(t.Context(), dir, shardset.Locking{})
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := filter.ParseSpec("standard(m=4096,k=3)")
	hasher := filter.NewHasher(0)
	m := &shard.Manifest{Hash: hasher.ID(), Spec: spec, Shards: make([]shard.Entry, 2)}
	family, _ := families.ByName("standard")
	for i := range m.Shards {
		f, err := family.New(spec, 0)
		if err != nil {
			t.Fatal(err)
		}
		if m.Shards[i], _, err = putShard(t.Context(), to, i, 2, one.New(f, hasher)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Commit(t.Context(), m, nil, nil), to.Close()); err != nil {
		t.Fatal(err)
	}
	set, err := Open(t.Context(), dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if f := set.Facts(); !f.Hashes || f.Query == nil || f.Filter != nil || f.Stored.Shards != 2 || set.Parts() == nil {
		t.Errorf("%+v", f)
	}
	if err := os.WriteFile(filepath.Join(dir, m.Shards[1].File), make([]byte, m.Shards[1].Bytes), 0o666); err != nil {
		t.Fatal(err)
	}
	good, bad := keyOf(0), keyOf(1)
	at, err := set.At(good, true)
	if err != nil || at.Add(good, nil) != nil || !set.Contains(good, nil) || set.Len() != 1 {
		t.Errorf("the whole shard: %v, %d keys", err, set.Len())
	}
	dst := []bool{false, false}
	set.ContainsMany(dst, engine.Keys{Hashes: []filter.Hash{good, bad}})
	if _, err := set.At(bad, false); err == nil || !set.Contains(bad, nil) || !dst[0] || !dst[1] || set.Err() == nil {
		t.Errorf("the damaged shard: %v, %v", err, dst)
	}
}

// keyOf returns a key of shard i of 2.
func keyOf(i int) filter.Hash {
	h := filter.Hash{}
	for shard.Route(h, 2) != i {
		h.Hi++
	}
	return h
}
