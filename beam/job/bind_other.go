//go:build !linux

package job

import "errors"

// bindLoopback restricts a listening socket to the loopback interface. Only Linux can.
func bindLoopback(int) error { return errors.ErrUnsupported }
