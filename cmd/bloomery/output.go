package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/container"
)

// mayReplace returns an error if no filter can be written to path. It is called before the work. Only filter files and
// empty files are replaced, so that a typing error does not destroy a list of keys.
func mayReplace(path string) error {
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
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if !container.HasMagic(f) {
			return fmt.Errorf("%s exists and is no filter file; remove it first or name another -o", path)
		}
	}
	return container.MayWrite(path)
}

// makeFolder makes a folder for results. It returns an error if no file can be created in it. It is called before the
// work.
func makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	return container.MayWrite(filepath.Join(path, "result"))
}
