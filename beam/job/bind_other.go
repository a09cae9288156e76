//go:build !linux

package job

import "errors"

// bindLoopback restricts a listening socket to the loopback interface, which is possible only on Linux.
func bindLoopback(int) error { return errors.ErrUnsupported }
