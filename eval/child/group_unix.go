//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// group makes the cancellation of c's context kill the process and all processes that it has started, such as the
// compilers of a build. Ctrl-C on a terminal does not reach them directly.
func group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
