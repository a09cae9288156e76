package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// Readable returns an error if a file cannot be read. It does not open a pipe, whose writer could be gone later.
func Readable(path string) error {
	switch st, err := os.Stat(path); {
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case !st.Mode().IsRegular():
		return nil
	}
	f, _, err := untrusted.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s is empty", path)
	} else if err != nil {
		return err
	}
	return nil
}

// MakeFolder makes a folder for results. It returns an error if no file can be created in it. It is called before the
// work.
func MakeFolder(path string) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	return container.MayWrite(filepath.Join(path, "result"))
}
