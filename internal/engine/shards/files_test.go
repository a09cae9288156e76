package shards_test

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
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
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
	check(t, err)
	return all
}

// deltaSet builds a sharded set of the keys from, ..., to-1 in a folder.
func deltaSet(t *testing.T, dir string, from, to int) {
	t.Helper()
	var keys []string
	for i := from; i < to; i++ {
		keys = append(keys, fmt.Sprint("key-", i))
	}
	c := bloomery.Config{Spec: "rankindexed(capacity=3000,fpr=0.01)", Sharding: bloomery.Sharding{Shards: 4}}
	if _, err := settest.BuildShards(t.Context(), slices.Values(keys), dir, c); err != nil {
		t.Fatal(err)
	}
}

// TestPatchFolder patches a sharded set into a new folder, into its own folder, and into the folder of the version
// before, which contains files with the new names and other content. A delta that is damaged at any place must leave
// every folder unchanged.
func TestPatchFolder(t *testing.T) {
	ctx := t.Context()
	top := t.TempDir()
	path := func(name string) string { return filepath.Join(top, name) }
	deltaSet(t, path("old"), 0, 2000)
	deltaSet(t, path("new"), 10, 2010)
	d, err := delta.DiffFiles(ctx, path("old"), path("new"))
	check(t, err)
	want := files(t, path("new"))
	check(t, delta.PatchFile(ctx, path("old"), d, path("copy"), delta.Options{}))
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
	// the names of changed sets contain hashes and are new
	deltaSet(t, path("next"), 0, 2000)
	deltaSet(t, path("next"), 10, 2010)
	if d, err = delta.DiffFiles(ctx, path("old"), path("next")); err != nil {
		t.Fatal(err)
	}
	check(t, delta.PatchFile(ctx, path("old"), d, path("old"), delta.Options{}))
	if got := files(t, path("old")); !maps.Equal(got, files(t, path("next"))) {
		t.Errorf("%d files", len(got))
	}
}

// TestFileOfSet checks that no function replaces a single file of a sharded set. Other files in the folder, and shards
// without a manifest, can be replaced.
func TestFileOfSet(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	keys := settest.Names("member", 1000)
	m := writeShards(t, dir, bloomery.Config{Spec: "counting(m=65536)"}, 4, keys)
	path, manifest := filepath.Join(dir, m.Shards[1].File), filepath.Join(dir, shard.ManifestName)
	link := filepath.Join(t.TempDir(), "link.bloom")
	before, text := settest.ReadAll(t, path), settest.ReadAll(t, manifest)
	other := settest.Build(t, settest.Words(100), bloomery.Config{Spec: "counting(m=65536)"})
	was, err := os.Stat(path)
	check(t, err)
	d, err := delta.DiffFiles(ctx, path, settest.Save(t, other))
	check(t, err)
	engineOfOther := settest.EngineOf(t, other)
	alone := settest.Save(t, settest.Must(bloomery.FromBytes(before)))
	for what, f := range map[string]func() error{
		"Lock":         func() error { _, err := bloomery.Lock(ctx, path); return err },
		"Save":         func() error { return other.Save(ctx, path) },
		"Replace":      func() error { return engineOfOther.Replace(ctx, path, was, engineOfOther) },
		"PatchFile":    func() error { return delta.PatchFile(ctx, path, d, path, delta.Options{}) },
		"the output":   func() error { return delta.PatchFile(ctx, alone, d, path, delta.Options{}) },
		"the manifest": func() error { return other.Save(ctx, manifest) },
		"a link": func() error {
			if err := os.Symlink(path, link); err != nil {
				t.Skip(err)
			}
			return other.Save(ctx, link)
		},
	} {
		if err := f(); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !bytes.Equal(settest.ReadAll(t, path), before) || !bytes.Equal(settest.ReadAll(t, manifest), text) {
		t.Error("a file was changed")
	}
	if s := holds(t, dir, keys); s.Err() != nil {
		t.Error(s.Err())
	}
	for name, want := range map[string]error{
		// the next writer removes them:
		shardset.Name(1, 5, ""): filter.ErrConfig, shardset.Name(1, 4, "abc"): filter.ErrConfig,
		"x.bloom": nil,
	} {
		if err := other.Save(ctx, filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, os.Remove(manifest))
	if err := errors.Join(other.Save(ctx, path), other.Save(ctx, manifest)); err != nil {
		t.Errorf("without a manifest: %v", err)
	}
	check(t, os.WriteFile(manifest, []byte("no manifest"), 0o600))
	if err := other.Save(ctx, path); !errors.Is(err, shard.ErrManifest) {
		t.Errorf("with a damaged manifest: %v", err)
	}
}
