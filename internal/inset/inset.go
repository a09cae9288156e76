// Package inset finds sharded sets in folders and guards them: a file of a set changes only together with its manifest.
package inset

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// Check returns an error wrapping filter.ErrConfig if the file at path, or the one that a symbolic link there names, is
// the manifest of a sharded set, or has the name of a shard and a manifest beside it. To replace a file of the set
// alone would make it unreadable, and another one with such a name is removed by the next writer of the set. If that
// manifest cannot be read, Check returns the error. It reads nothing unless the file has the name of a shard or a
// manifest.
func Check(path string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir, name := filepath.Split(path)
	if name != shard.ManifestName && !shard.IsName(name) {
		return nil
	}
	m, _, err := shard.ReadFolder(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || name == shard.ManifestName && errors.Is(err, shard.ErrManifest):
		return nil
	case err != nil:
		return fmt.Errorf("%s may be a shard of a set: %w", path, err)
	case name == shard.ManifestName:
		return refused(path, "the manifest", dir)
	case slices.ContainsFunc(m.Shards, func(e shard.Entry) bool { return e.File == name }):
		return refused(path, "a shard", dir)
	}
	return &filter.ConfigError{Field: "file", Value: path, Reason: "this is a name of shards, in the folder of a " +
		"sharded set: the next change of the set would remove it; take another name"}
}

func refused(path, what, dir string) error {
	if dir == "" {
		dir = "."
	}
	return &filter.ConfigError{Field: "file", Value: path, Reason: fmt.Sprintf(
		"this is %s of a sharded set, which cannot be read if one file changes alone; name the folder %s",
		what, filepath.Clean(dir))}
}
