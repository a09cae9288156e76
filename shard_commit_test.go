package bloomery_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
)

// replaced is a context that ends when a file has another content than text.
type replaced struct {
	context.Context
	path, text string
}

func (c replaced) Err() error {
	if b, err := os.ReadFile(c.path); err == nil && string(b) != c.text {
		return context.Canceled
	}
	return nil
}

// TestEndAfterCommit: once the manifest is replaced, Build returns the set, even if its context ends then: an error
// means that the folder is as it was before.
func TestEndAfterCommit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	c := bloomery.Config{Dir: dir, Shards: 3}
	if err := build(t, words(1000), c).Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "manifest.json")
	ctx := replaced{context.Background(), path, string(readAll(t, path))}
	all := words(2000)
	s, err := bloomery.Build(ctx, slices.Values(all), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if ctx.Err() == nil {
		t.Fatal("the set was not replaced")
	}
	for _, w := range all {
		if !s.ContainsString(w) {
			t.Fatalf("%s is missing", w)
		}
	}
}
