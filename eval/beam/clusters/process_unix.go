//go:build unix

package clusters

import (
	"os"
	"os/exec"
	"syscall"
)

// Signals. Signal 0 only checks whether the process exists.
const (
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
	pause     = syscall.SIGSTOP
	goOn      = syscall.SIGCONT
)

// ownGroup runs a command in its own session, so that signals of this terminal do not reach it.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// signal sends a signal to a process, or to a group if the number is negative.
func signal(pid int, s syscall.Signal) error {
	if pid == 0 {
		return os.ErrProcessDone
	}
	return syscall.Kill(pid, s)
}
