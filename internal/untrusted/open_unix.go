//go:build unix

package untrusted

import "syscall"

// nonblock makes open return at once if a pipe replaced the file since it was looked at.
const nonblock = syscall.O_NONBLOCK
