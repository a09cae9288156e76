//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package flock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// elsewhere takes the lock of a file until the file is closed. It reports true if another process has the lock.
// On a file system without locks it always reports false.
func elsewhere(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR)
}
