package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/internal/inset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// mayReplace returns an error if no filter can be written to path. It is called before the work. Only filter files and
// empty files are replaced, so that a typing error does not destroy a list of keys.
func mayReplace(path string) error { return mayReplaceIf(path, "filter file", container.HasMagic) }

// mayReplaceIf is mayReplace for files of another kind, which has recognises by their first bytes.
func mayReplaceIf(path, kind string, has func(io.Reader) bool) error {
	if path == "" {
		return errors.New("name the file to write: -o FILE")
	}
	switch st, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a folder; name the file to write in it", path)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case st.Size() > 0:
		f, _, err := untrusted.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if !has(f) {
			return fmt.Errorf("%s exists and is no %s; remove it first or name another -o", path, kind)
		}
	}
	if err := inset.Check(path); err != nil {
		return err
	}
	return container.MayWrite(path)
}

// mayReplaceFolder is mayReplace for the folder of a sharded set: it must be new, empty or that of a set,
// which may be unfinished since its writer was killed.
func mayReplaceFolder(path string) error {
	switch path {
	case "":
		return errors.New("name the folder to write: -o DIR")
	case stdio:
		return errors.New("-o -: a sharded set is a folder and cannot be standard output; name a folder")
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && filepath.Ext(path) == ".bloom":
		return fmt.Errorf("-o %s: that is the name of a file, and a sharded set is a folder; name a folder", path)
	case errors.Is(err, fs.ErrNotExist):
		return container.MayWrite(path)
	case err != nil:
		return err
	case !st.IsDir():
		return fmt.Errorf("-o %s: that is a file, and a sharded set is a folder; name a folder", path)
	}
	all, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	set := slices.ContainsFunc(all, func(e fs.DirEntry) bool { return e.Name() == shard.ManifestName })
	foreign := func(e fs.DirEntry) bool { return !shard.IsUnfinished(e.Name()) }
	if !set && slices.ContainsFunc(all, foreign) {
		return fmt.Errorf("-o %s: the folder has files and is no sharded set; name a new folder", path)
	}
	return container.MayWrite(filepath.Join(path, shard.ManifestName))
}

// anySharded reports whether one of the paths is the folder of a sharded set.
func anySharded(paths ...string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { _, ok := bloomery.ShardedDir(path); return ok })
}
