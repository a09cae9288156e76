//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// group makes cancelling c's context kill the process and all that it has started, such as the compilers of a build.
// Ctrl-C on a terminal does not reach them by itself.
func group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
