package bloomery_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardfile"
	"github.com/bloomery/bloomery/shard"
)

// TestFileOfSet: nothing replaces one file of a sharded set alone. Files beside it, and shards without a manifest, are
// files as any other.
func TestFileOfSet(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	keys := names("member", 1000)
	m := writeShards(t, dir, bloomery.Config{Spec: "counting(m=65536)"}, 4, keys)
	path, manifest := filepath.Join(dir, m.Shards[1].File), filepath.Join(dir, shard.ManifestName)
	link := filepath.Join(t.TempDir(), "link.bloom")
	before, text := readAll(t, path), readAll(t, manifest)
	other := build(t, words(100), bloomery.Config{Spec: "counting(m=65536)"})
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := delta.DiffFiles(ctx, path, save(t, other))
	if err != nil {
		t.Fatal(err)
	}
	alone := save(t, must(bloomery.FromBytes(before)))
	for what, f := range map[string]func() error{
		"Lock":         func() error { _, err := bloomery.Lock(ctx, path); return err },
		"Save":         func() error { return other.Save(ctx, path) },
		"Replace":      func() error { return bloomery.ReplaceFile(ctx, other, path, was) },
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
	if !bytes.Equal(readAll(t, path), before) || !bytes.Equal(readAll(t, manifest), text) {
		t.Error("a file was changed")
	}
	if s := holds(t, dir, keys); s.Err() != nil {
		t.Error(s.Err())
	}
	for name, want := range map[string]error{
		// the next writer removes them:
		shardfile.Name(1, 5, ""): filter.ErrConfig, shardfile.Name(1, 4, "abc"): filter.ErrConfig,
		"x.bloom": nil,
	} {
		if err := other.Save(ctx, filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(manifest); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Save(ctx, path), other.Save(ctx, manifest)); err != nil {
		t.Errorf("without a manifest: %v", err)
	}
	if err := os.WriteFile(manifest, []byte("no manifest"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := other.Save(ctx, path); !errors.Is(err, shard.ErrManifest) {
		t.Errorf("with a damaged manifest: %v", err)
	}
}
