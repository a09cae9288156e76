package bloomery_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/internal/shardtest"
)

// files returns the content of all files below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// deltaSet builds a sharded set of the keys from, ..., to-1 in a folder.
func deltaSet(t *testing.T, dir string, from, to int) {
	t.Helper()
	var keys []string
	for i := from; i < to; i++ {
		keys = append(keys, fmt.Sprint("key-", i))
	}
	c := bloomery.Config{Spec: "rankindexed(capacity=3000,fpr=0.01)", Shards: 4}
	if _, err := shardtest.Build(t.Context(), slices.Values(keys), dir, c); err != nil {
		t.Fatal(err)
	}
}

// TestPatchFolder patches a sharded set into a new folder, into its own one, and into that of the version before, which
// has the new names with other content. A delta that is damaged at any place leaves every folder as it was.
func TestPatchFolder(t *testing.T) {
	ctx := t.Context()
	top := t.TempDir()
	path := func(name string) string { return filepath.Join(top, name) }
	deltaSet(t, path("old"), 0, 2000)
	deltaSet(t, path("new"), 10, 2010)
	d, err := delta.DiffFiles(ctx, path("old"), path("new"))
	if err != nil {
		t.Fatal(err)
	}
	want := files(t, path("new"))
	if err := delta.PatchFile(ctx, path("old"), d, path("copy"), delta.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := files(t, path("copy")); !maps.Equal(got, want) {
		t.Errorf("%d files", len(got))
	}
	if err := delta.PatchFile(ctx, path("old"), d, path("copy"), delta.Options{}); err != nil {
		t.Errorf("again: %v", err)
	}
	before := files(t, path("old"))
	if err := delta.PatchFile(ctx, path("old"), d, path("old"), delta.Options{}); err == nil {
		t.Error("the names of shards in use were taken for other content")
	}
	if !maps.Equal(files(t, path("old")), before) {
		t.Error("a refused patch changed the folder")
	}
	for at := 0; at < len(d); at += 1 + len(d)/50 {
		b := bytes.Clone(d)
		b[at] ^= 0x10
		for _, out := range []string{"old", "fresh", "copy"} {
			err := delta.PatchFile(ctx, path("old"), b, path(out), delta.Options{})
			if err == nil {
				t.Fatalf("byte %d: no error", at)
			}
		}
		if _, err := os.Stat(path("fresh")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("byte %d: a folder was left", at)
		}
		if !maps.Equal(files(t, path("old")), before) || !maps.Equal(files(t, path("copy")), want) {
			t.Fatalf("byte %d: a folder was changed", at)
		}
	}
	// names with hashes, as those of changed sets, are new ones
	deltaSet(t, path("next"), 0, 2000)
	deltaSet(t, path("next"), 10, 2010)
	if d, err = delta.DiffFiles(ctx, path("old"), path("next")); err != nil {
		t.Fatal(err)
	}
	if err := delta.PatchFile(ctx, path("old"), d, path("old"), delta.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := files(t, path("old")); !maps.Equal(got, files(t, path("next"))) {
		t.Errorf("%d files", len(got))
	}
}
