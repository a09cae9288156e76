package untrusted

import (
	"errors"
	"io/fs"
	"runtime"
	"syscall"
	"time"
)

// Windows refuses to replace a file that anybody has open, and to open a file while it is replaced. Readers and writers
// of small files are done in milliseconds.
const (
	busyWait  = 2 * time.Second
	busyPause = 5 * time.Millisecond
	inUse     = syscall.Errno(32) // ERROR_SHARING_VIOLATION of Windows
)

// WhileBusy calls do, which opens or renames a file. On Windows it calls do again, for up to 2 s, while another open
// file prevents it. Windows reports some of these cases as missing permission.
func WhileBusy(do func() error) error {
	began := time.Now()
	for {
		err := do()
		busy := runtime.GOOS == "windows" && (errors.Is(err, inUse) || errors.Is(err, fs.ErrPermission))
		if !busy || time.Since(began) > busyWait {
			return err
		}
		time.Sleep(busyPause)
	}
}
