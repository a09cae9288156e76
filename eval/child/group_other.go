//go:build !unix

package child

import "os/exec"

// group does nothing: cancelling the context of c kills only the process, and its child processes continue until they
// end by themselves.
func group(*exec.Cmd) {}
