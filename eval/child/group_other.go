//go:build !unix

package child

import "os/exec"

// group does nothing: cancelling c's context kills the process, and what it has started ends when it is done.
func group(*exec.Cmd) {}
