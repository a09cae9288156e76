package container

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// canLock is false: files can be locked, and neither renamed nor removed while they are open.
const canLock = false

// tryLock takes the lock of an open file until it is closed. If another open file has the lock, taken is false and
// elsewhere is true. If the file system has no locks, both are false.
func tryLock(f *os.File) (taken, elsewhere bool) {
	// One byte far behind the end: others may read and write the file.
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at)
	return err == nil, errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING)
}
