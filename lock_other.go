//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package bloomery

import "os"

// lockedElsewhere closes the file: there are no locks here, and Windows cannot replace an open file.
func lockedElsewhere(f *os.File) bool {
	_ = f.Close()
	return false
}
