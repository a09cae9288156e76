package publish

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// TestUnpublishable checks that files and folders that are no filter of a known family are refused before the folder is
// made, a filter of package window by name.
func TestUnpublishable(t *testing.T) {
	dir := t.TempDir()
	m, _, err := shardset.ReadManifest(filepath.Join("..", "shard", "testdata", "sets", "one-shard"))
	must(t, err)
	var manifest bytes.Buffer
	if m.Spec, err = filter.ParseSpec("window(keys=1,ttl=1000000)"); err == nil {
		_, err = m.WriteTo(&manifest)
	}
	set, text := filepath.Join(dir, "set"), filepath.Join(dir, "list.txt")
	err = errors.Join(err, os.Mkdir(set, 0o700), os.WriteFile(text, []byte("a list of keys\n"), 0o600),
		os.WriteFile(filepath.Join(set, shard.ManifestName), manifest.Bytes(), 0o600))
	must(t, err)
	for path, want := range map[string]error{
		filepath.Join("..", "window", "testdata", "few.window"): filter.ErrMagic, set: filter.ErrFamily,
		text: filter.ErrMagic, filepath.Join(dir, "none"): fs.ErrNotExist, dir: filter.ErrNoManifest,
	} {
		out := filepath.Join(dir, "out")
		_, err := Publish(t.Context(), out, path, Options{Unsigned: true})
		if !errors.Is(err, want) || filepath.Ext(path) == ".window" && !strings.Contains(err.Error(), "package window") {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the folder was made: %v", path, err)
		}
	}
}
