//go:build !race

package main

import "syscall"

// setAddressSpace limits the address space of this process and of the programs that it executes.
func setAddressSpace(bytes uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
