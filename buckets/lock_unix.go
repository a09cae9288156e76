//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package buckets

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockedElsewhere takes the lock of a file until the file is closed. It reports true if another open Set has the lock.
// On a file system without locks it always reports false.
func lockedElsewhere(f *os.File) bool {
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}
