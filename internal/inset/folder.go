package inset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/shard"
)

// ErrNoManifest means that a folder has no manifest, so that it is no sharded set. It wraps fs.ErrNotExist.
var ErrNoManifest = fmt.Errorf("no %s in this folder: %w", shard.ManifestName, fs.ErrNotExist)

// Dir returns the folder of a sharded set, if path is a folder or its manifest.
func Dir(path string) (dir string, ok bool) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false
	case st.IsDir():
		return path, true
	case filepath.Base(path) == shard.ManifestName:
		return filepath.Dir(path), true
	}
	return "", false
}

// Same reports whether two paths name one file or folder.
func Same(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// Manifest reads the manifest in a folder. The error wraps ErrNoManifest if there is none.
func Manifest(dir string) (*shard.Manifest, fs.FileInfo, error) {
	m, st, err := shard.ReadFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w%s", dir, ErrNoManifest, advice(dir))
	}
	return m, st, err
}

// advice says what to do about a folder without a manifest.
func advice(dir string) string {
	d, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if _, _, ok := shard.CutWork(name); ok || strings.Contains(name, "-of-") && strings.HasSuffix(name, ".bloom") {
				return "; an unfinished build or copy? Run it again"
			}
		}
		if err != nil {
			return "; name a filter file, or the folder that bloomery build --shards wrote"
		}
	}
}

// Replace begins to replace the set in a folder, which is new, empty, has a set, or what a killed build has left.
func Replace(dir string) (*shard.Folder, error) {
	f, err := shard.LockFolder(context.Background(), dir, shard.Locking{Wait: shard.NoWait})
	if err != nil {
		return nil, err
	}
	err = f.Read()
	if name := f.Foreign(); err == nil && name != "" {
		err = fmt.Errorf("%s: there is %s and no sharded set in the folder; name an empty folder", dir, name)
	}
	if err == nil {
		err = container.MayWrite(f.Path(shard.ManifestName))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
