//go:build unix

package untrusted

import "syscall"

// NoFollow is a flag of OpenFile that makes opening a symbolic link an error. It is 0 on systems without it.
const NoFollow = syscall.O_NOFOLLOW

// nonblock makes open return at once if a pipe has replaced the file since the check.
const nonblock = syscall.O_NONBLOCK
