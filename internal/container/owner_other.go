//go:build !unix

package container

import (
	"io/fs"
	"os"
)

func keepOwner(f *os.File, _ string, old fs.FileInfo) (warning, err error) {
	return nil, f.Chmod(old.Mode().Perm())
}

func giveTo(*os.File, fs.FileInfo) error { return nil }

func linkCount(fs.FileInfo) int { return 1 }

func stranger(fs.FileInfo) bool { return false }
