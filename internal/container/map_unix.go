//go:build unix

package container

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const canMap = true

// mapFile maps a whole file privately: writes to the memory do not change the file.
func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
}

func unmapFile(b []byte) error { return syscall.Munmap(b) }

// releasePages drops pages of a mapped file. It is advice only, so its error is ignored.
func releasePages(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_DONTNEED)
	}
}
