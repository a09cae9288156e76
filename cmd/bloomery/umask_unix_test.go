//go:build unix

package main

import "syscall"

// The folders of tests are such that a follower accepts them, whatever the umask of the user is.
func init() { syscall.Umask(0o022) }
