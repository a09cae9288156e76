//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package bloomery

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockedElsewhere takes the lock of a file, which ends when the file is closed, or reports that another process has it. A
// file system without locks never has one that is taken.
func lockedElsewhere(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR)
}
