//go:build unix

package container

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/bloomery/bloomery/filter"
)

// keepOwner gives a new file the owner, the group and the permissions of the old one. If this process may not give away
// the owner or the group, warning wraps filter.ErrOwner; a file with another group then gets only the permissions that
// both its group and all others had.
func keepOwner(f *os.File, old fs.FileInfo) (warning, err error) {
	mode := old.Mode().Perm()
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, f.Chmod(mode)
	}
	if failed := f.Chown(int(was.Uid), int(was.Gid)); failed != nil {
		_ = f.Chown(-1, int(was.Gid)) // the owner of a file may give it to a group of its own
		mode, warning = lost(f, was, mode, failed)
	}
	return warning, f.Chmod(mode) // after chown, which may clear bits
}

// lost returns the permissions that f may have, and a warning if its owner or group are not those of was.
func lost(f *os.File, was *syscall.Stat_t, mode fs.FileMode, failed error) (fs.FileMode, error) {
	st, err := f.Stat()
	if err != nil {
		return mode & 0o700, fmt.Errorf("%w: %w", filter.ErrOwner, err)
	}
	now := st.Sys().(*syscall.Stat_t)
	if now.Gid != was.Gid {
		both := mode >> 3 & mode & 0o7
		mode = mode&0o700 | both<<3 | both
	}
	if now.Uid == was.Uid && now.Gid == was.Gid {
		return mode, nil
	}
	failed, _ = cause(failed)
	return mode, fmt.Errorf("%w: they were %d:%d and are %d:%d now, with permissions %#o: %w",
		filter.ErrOwner, was.Uid, was.Gid, now.Uid, now.Gid, mode, failed)
}
