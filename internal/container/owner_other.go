//go:build !unix

package container

import (
	"io/fs"
	"os"
)

func keepOwner(f *os.File, _ string, old fs.FileInfo) (warning, err error) {
	return nil, f.Chmod(old.Mode().Perm())
}
