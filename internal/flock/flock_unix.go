//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package flock

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Supported reports that files can be locked, and renamed while they are open.
const Supported = true

// Try takes the advisory lock of an open file until it is closed. taken is false if another open file has it, or if the
// file system has no locks; elsewhere tells which.
func Try(f *os.File) (taken, elsewhere bool) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err == nil, errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
}

// giveTo gives a file of root to the owner of its folder.
func giveTo(f *os.File, folder fs.FileInfo) error {
	if s, ok := folder.Sys().(*syscall.Stat_t); ok && s.Uid != 0 {
		return f.Chown(int(s.Uid), int(s.Gid))
	}
	return nil
}

// links returns the number of names of a file.
func links(st fs.FileInfo) int {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}

// stranger reports whether a file belongs neither to this user nor to root.
func stranger(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && s.Uid != 0 && int(s.Uid) != os.Geteuid()
}
