//go:build unix && !linux

package container

import "golang.org/x/sys/unix"

// releasePages drops pages of a mapped file. It is advice only, so its error is ignored.
func releasePages(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_DONTNEED)
	}
}
