//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package container

import "os"

const (
	locks    = false
	noFollow = 0
)

func tryLock(*os.File) (taken, elsewhere bool) { return false, false }
