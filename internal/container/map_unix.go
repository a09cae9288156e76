//go:build unix

package container

import (
	"os"
	"syscall"
)

const canMap = true

// mapFile maps a whole file privately: writes to the memory do not change the file.
func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
}

func unmapFile(b []byte) error { return syscall.Munmap(b) }
