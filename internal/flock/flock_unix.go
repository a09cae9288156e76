//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package flock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Supported reports that files can be locked, and renamed while they are open.
const Supported = true

// Try takes the advisory lock of an open file until it is closed. taken is false if another open file has it, or if the
// file system has no locks; elsewhere tells which.
func Try(f *os.File) (taken, elsewhere bool) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err == nil, errors.Is(err, unix.EWOULDBLOCK)
		}
	}
}
