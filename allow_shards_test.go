package bloomery

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// TestAllowShards reads a sharded set whose shards have exceptions, as another writer may make it.
func TestAllowShards(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	const n, allowed, shards = 20_000, 10_000, 3
	m, err := BuildShards(ctx, numbered("member", n), dir, Config{Spec: "blocked(fpr=0.05)", Shards: shards})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Shards {
		e := &m.Shards[i]
		path := filepath.Join(dir, e.File)
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.Allower(nil)
		if err != nil {
			t.Fatal(err)
		}
		addRouted(t, numbered("allowed", allowed), s.Hasher(), i, shards, a.AllowMany)
		addRouted(t, numbered("member", n), s.Hasher(), i, shards, a.AddMembers)
		if err := a.Apply(ctx); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(ctx, path); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		e.Bytes, e.SHA256 = uint64(len(file)), sha256.Sum256(file)
	}
	if err := container.WriteAtomic(ctx, filepath.Join(dir, shard.ManifestName), manifestWriter(m)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	exact(t, "shards", s, n, allowed)
	exact(t, "loaded shards", s, n, allowed)
	if v := s.Stored().Version; v != 3 {
		t.Errorf("version %d", v)
	}
	if _, err := s.Allower(nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Allower: %v", err)
	}
	if err := s.AddString("new"); !errors.Is(err, filter.ErrExceptions) {
		t.Errorf("Add: %v", err)
	}
}

// addRouted gives the keys of a shard.
func addRouted(t *testing.T, keys iter.Seq[[]byte], h filter.Hasher, i, shards int, give func([][]byte) error) {
	t.Helper()
	for key := range keys {
		if shard.Route(h.Sum(key), shards) != i {
			continue
		}
		if err := give([][]byte{key}); err != nil {
			t.Fatal(err)
		}
	}
}
