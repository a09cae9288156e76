//go:build unix

package clusters

import (
	"os"
	"os/exec"
	"syscall"
)

// Signals. Signal 0 only asks whether the process is there.
const (
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
	pause     = syscall.SIGSTOP
	goOn      = syscall.SIGCONT
)

// ownGroup lets a command run in a session of its own: signals of this terminal do not reach it.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// signal sends a signal to a process, or to a group if the number is negative.
func signal(pid int, s syscall.Signal) error {
	if pid == 0 {
		return os.ErrProcessDone
	}
	return syscall.Kill(pid, s)
}
