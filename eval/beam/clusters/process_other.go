//go:build !unix

package clusters

import (
	"errors"
	"os/exec"
)

const (
	terminate = iota + 1
	kill
	pause
	goOn
)

func ownGroup(*exec.Cmd) {}

// signal is not supported: Lacking reports this earlier.
func signal(int, int) error { return errors.ErrUnsupported }
