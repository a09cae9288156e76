//go:build unix

package publish

import "syscall"

// Sets a umask with which followers accept the folders of tests.
func init() { syscall.Umask(0o022) }
