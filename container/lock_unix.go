//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package container

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// locks reports that files can be locked, and renamed while they are open.
const locks = true

// noFollow makes opening a symbolic link an error, and that of a pipe return at once.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// tryLock takes the advisory lock of a file until the file is closed. taken is false if another process has it, or if
// the file system has no locks; elsewhere tells which.
func tryLock(f *os.File) (taken, elsewhere bool) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err == nil, errors.Is(err, unix.EWOULDBLOCK)
		}
	}
}
