//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package flock

import "os"

// Supported is false: there are no locks here.
const Supported = false

// Try takes no lock.
func Try(*os.File) (taken, elsewhere bool) { return false, false }
