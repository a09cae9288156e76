//go:build unix

package main

import "syscall"

// A follower must accept the folders of tests for any umask of the user.
func init() { syscall.Umask(0o022) }
