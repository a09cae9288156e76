package buckets_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// TestExceptions opens a set whose shard has exceptions for absent keys: whole shards honour them, block reads refuse.
func TestExceptions(t *testing.T) {
	dir, local := storetest.Build(t, 1000, bloomery.Config{Spec: "blocked(fpr=0.1)", Shards: 1})
	m := *local.Manifest()
	path := filepath.Join(dir, m.Shards[0].File)
	one, err := bloomery.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := one.Allower(bloomery.JobConfig{})
	if err != nil {
		t.Fatal(err)
	}
	keys := func(from, to uint64) (all [][]byte) {
		for i := from; i < to; i++ {
			all = append(all, []byte(storetest.Key(i)))
		}
		return all
	}
	if err := errors.Join(a.AllowMany(keys(5000, 9000)), a.AddMembers(keys(0, 1000)), a.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	file, err := one.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	// Not by Save, which leaves the files of sharded sets alone. The Set has mapped the file: replace it.
	if err := errors.Join(os.Remove(path), os.WriteFile(path, file, 0o600)); err != nil {
		t.Fatal(err)
	}
	m.Shards = append([]shard.Entry(nil), m.Shards...)
	m.Shards[0].Bytes, m.Shards[0].SHA256 = uint64(len(file)), sha256.Sum256(file)
	var manifest bytes.Buffer
	if _, err := m.WriteTo(&manifest); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, shard.ManifestName), manifest.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openSet(t, buckets.Folder(dir), buckets.Options{})
	for i, key := range append(keys(0, 1000), keys(5000, 9000)...) {
		if has, err := s.ContainsContext(t.Context(), key); err != nil || has != (i < 1000) {
			t.Fatalf("%s is present: %t, %v", key, has, err)
		}
	}
	blocks, err := buckets.OpenSet(t.Context(), buckets.Folder(dir), buckets.Options{Blocks: true})
	if err == nil {
		defer blocks.Close()
		var has bool
		if has, err = blocks.ContainsContext(t.Context(), keys(5000, 5001)[0]); !has {
			t.Error("a key of a shard that cannot be read is absent")
		}
	}
	if !errors.Is(err, filter.ErrUnsupported) {
		t.Errorf("blocks: %v", err)
	}
}
