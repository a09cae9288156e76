package container

import "syscall"

// releasePages drops pages of a mapped file. It is advice only, so its error is ignored. It takes package syscall,
// since golang.org/x/sys/unix is the largest package that a program which opens filters would compile.
func releasePages(b []byte) {
	if len(b) > 0 {
		_ = syscall.Madvise(b, syscall.MADV_DONTNEED)
	}
}
