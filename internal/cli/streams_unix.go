//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// standardError returns standard error under a descriptor above 2. On descriptors 1 and 2, Go would end the process
// with SIGPIPE in the middle of its work if the reader has closed the pipe.
func standardError() *os.File {
	fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return os.Stderr
	}
	return os.NewFile(uintptr(fd), os.Stderr.Name())
}

// readsToo reports whether a file was opened for reading and writing.
func readsToo(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
}
