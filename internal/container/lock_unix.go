//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package container

import (
	"errors"
	"os"
	"syscall"
)

// canLock reports whether files can be locked, and renamed while they are open.
const canLock = true

// tryLock takes the advisory lock of an open file until it is closed. If another open file has the lock, taken is false
// and elsewhere is true. If the file system has no locks, both are false.
func tryLock(f *os.File) (taken, elsewhere bool) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err == nil, errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
}
