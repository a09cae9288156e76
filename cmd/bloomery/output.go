package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/container"
)

// mayReplace says before the work, not after it, why no filter can be written to path. It keeps a slip from destroying a
// list of keys: only filter files and empty files are replaced.
func mayReplace(path string) error {
	if path == "" {
		return errors.New("name the file to write: -o FILE")
	}
	if path == "-" {
		return errors.New("-o -: a filter goes to a file, all or nothing, and not to standard output; name a file")
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
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if !container.HasMagic(f) {
			return fmt.Errorf("%s exists and is no filter file; remove it first or name another -o", path)
		}
	}
	return mayCreate(path)
}

// makeFolder makes a folder for results and returns an error, before the work, if no file can be made in it.
func makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	return mayCreate(filepath.Join(path, "result"))
}

// writeWhole writes a file, or replaces it, through a temporary one beside it: path never holds a part of what write gives. The
// file keeps its permissions, and a link to it stays one. An interrupt waits for write.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	target, mode := path, fs.FileMode(0o666)
	old, err := os.Stat(path)
	if err == nil {
		mode = 0o600
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	name := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.tmp-%016x", filepath.Base(target), rand.Uint64()))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(name)
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	buffered := bufio.NewWriter(f)
	if err := write(buffered); err != nil {
		return errors.Join(err, f.Close())
	}
	err = buffered.Flush()
	if err == nil && old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(name, target)
}

// mayCreate returns an error if no file can be made beside path, where container.WriteFile makes one.
func mayCreate(path string) error {
	dir := filepath.Dir(path)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		dir = filepath.Dir(target)
	}
	f, err := os.CreateTemp(dir, ".bloomery-*")
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return fmt.Errorf("%s: folder %s: %w", path, dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
