//go:build unix

package container

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bloomery/bloomery/filter"
)

// mapFile maps a whole file, privately: what is written to the memory stays there.
func mapFile(f *os.File) ([]byte, func() error, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if st.Size() == 0 || st.Size() != int64(int(st.Size())) {
		return nil, nil, fmt.Errorf("%d bytes cannot be mapped: %w", st.Size(), filter.ErrTooLarge)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return b, func() error { return unix.Munmap(b) }, nil
}
