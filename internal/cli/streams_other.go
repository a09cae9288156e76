//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package cli

import "os"

func standardError() *os.File { return os.Stderr }

func readsToo(*os.File) bool { return false }
