//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package main

import "os"

// locked closes the file: without locks there is nothing to hold, and Windows replaces no file that is open.
func locked(f *os.File) bool {
	_ = f.Close()
	return false
}
