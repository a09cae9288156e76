package shardset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/shard"
)

// CheckFile protects sharded sets, whose files change only together with the manifest. It returns an error wrapping
// filter.ErrConfig if the file at path, or the target of a symbolic link there, is the manifest of a sharded set, or
// has the name of a shard and is beside a manifest. Replacing a single file of the set would make the set unreadable,
// and the next writer of the set would remove another file with such a name. If the manifest cannot be read, CheckFile
// returns the error. It reads nothing unless the file has the name of a shard or of a manifest.
func CheckFile(path string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}

	dir, name := filepath.Split(path)
	if name != shard.ManifestName && !IsName(name) {
		return nil
	}

	m, _, err := ReadFolder(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || name == shard.ManifestName && errors.Is(err, shard.ErrManifest):
		return nil
	case err != nil:
		return fmt.Errorf("%s may be a shard of a set: %w", path, err)
	case name == shard.ManifestName:
		return refuseFile(path, "the manifest", dir)
	case slices.ContainsFunc(m.Shards, func(e shard.Entry) bool { return e.File == name }):
		return refuseFile(path, "a shard", dir)
	}
	return &filter.ConfigError{Field: "file", Value: path, Reason: "this is a name of shards, in the folder of a " +
		"sharded set: the next change of the set would remove it; take another name"}
}

func refuseFile(path, what, dir string) error {
	if dir == "" {
		dir = "."
	}
	return &filter.ConfigError{Field: "file", Value: path, Reason: fmt.Sprintf(
		"this is %s of a sharded set, which cannot be read if one file changes alone; name the folder %s",
		what, filepath.Clean(dir))}
}

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

// FileOf returns the file whose changes are changes of the Set at path: the manifest of a sharded set, else path.
func FileOf(path string) string {
	if dir, ok := Dir(path); ok {
		return filepath.Join(dir, shard.ManifestName)
	}
	return path
}

// SameFile reports whether two paths name the same file or folder.
func SameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// ReadManifest reads the manifest in a folder. The error wraps filter.ErrNoManifest if the folder has no manifest.
func ReadManifest(dir string) (*shard.Manifest, fs.FileInfo, error) {
	m, st, err := ReadFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w%s", dir, filter.ErrNoManifest, missingAdvice(dir))
	}
	return m, st, err
}

// Open calls open with the manifest in a folder. Another process may replace the set after the manifest was read: if
// open finds a shard missing or changed, and the manifest has changed, Open starts again.
func Open(dir string, open func(m *shard.Manifest, st fs.FileInfo) error) error {
	m, st, err := ReadManifest(dir)
	if err != nil {
		return err
	}

	for {
		err := open(m, st)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, shard.ErrChanged) {
			return err
		}

		// With the same manifest the shard is missing for good, and another attempt would not end differently.
		now, nowStat, failed := ReadManifest(dir)
		if failed != nil || reflect.DeepEqual(now, m) {
			return err
		}
		m, st = now, nowStat
	}
}

// missingAdvice returns a hint for a folder without a manifest.
func missingAdvice(dir string) string {
	d, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer d.Close()
	for { // in pieces, because the path may name any folder, however large
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if _, _, ok := CutWork(name); ok || strings.Contains(name, "-of-") && strings.HasSuffix(name, ".bloom") {
				return "; an unfinished build or copy? Run it again"
			}
		}
		if err != nil {
			return "; name a filter file, or the folder that bloomery build --shards wrote"
		}
	}
}

// Replace begins to replace the set in a folder. The folder must be new or empty, or contain a set or the leftovers of
// a killed build.
func Replace(dir string) (*Folder, error) {
	f, err := LockFolder(context.Background(), dir, Locking{Wait: NoWait})
	if err != nil {
		return nil, err
	}

	err = f.Read()
	if name := f.Foreign(); err == nil && name != "" {
		err = fmt.Errorf("%s: there is %s and no sharded set in the folder; name an empty folder", dir, name)
	}
	if err == nil { // now, not at the end of a long build
		err = container.MayWrite(f.Path(shard.ManifestName))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Distinct returns an error wrapping filter.ErrConfig if two paths name the same file. It ignores missing files.
func Distinct(paths []string) error {
	files := make([]fs.FileInfo, len(paths))
	for i, path := range paths {
		if dir, ok := Dir(path); ok {
			path = dir
		}
		st, err := os.Stat(path)
		if err != nil {
			continue
		}
		for j, other := range files[:i] {
			if other != nil && os.SameFile(st, other) {
				return fmt.Errorf("%s and %s are one file; name it once: %w", paths[j], path, filter.ErrConfig)
			}
		}
		files[i] = st
	}
	return nil
}
