package clusters

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery/eval/mavenjars"
)

// Daemon is a JVM of a cluster: the leader of a process group, which includes the processes that it starts.
type Daemon struct {
	Name    string   `json:"name"` // such as task-manager-1
	PID     int      `json:"pid"`
	Dir     string   `json:"dir"` // its working folder
	LogFile string   `json:"log"`
	Command []string `json:"command"`
	Env     []string `json:"env"` // NAME=VALUE, added to the environment of the process that starts it
}

// opened are the packages of the JDK that engines read by reflection.
var opened = []string{
	"java.lang", "java.lang.invoke", "java.lang.reflect", "java.util", "java.util.concurrent",
	"java.util.concurrent.atomic", "java.net", "java.io", "java.nio", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
	"sun.util.calendar", "java.text", "java.time",
}

// openings returns the options of Java that open these packages.
func openings() []string {
	var all []string
	for _, p := range opened {
		all = append(all, "--add-opens=java.base/"+p+"=ALL-UNNAMED")
	}
	return all
}

// jvm is the program of a daemon.
type jvm struct {
	name, heap, class string
	jars              string // folder
	args, options     []string
	env               []string
}

// daemon returns a daemon with its own folder inside the folder of the cluster.
func (c *Cluster) daemon(j jvm) (*Daemon, error) {
	d := &Daemon{Name: j.name, Dir: filepath.Join(c.Dir, j.name), LogFile: filepath.Join(c.Dir, j.name+".log"), Env: j.env}
	d.Command = append([]string{mavenjars.Java(), "-Dbloomery.daemon=" + d.Dir, "-Xmx" + j.heap}, openings()...)
	d.Command = append(append(d.Command, j.options...), "-cp", filepath.Join(j.jars, "*"), j.class)
	d.Command = append(d.Command, j.args...)
	return d, os.MkdirAll(d.Dir, 0o777)
}

// hosts writes the file for the option jdk.net.hosts.file, with which worker i resolves only the names in the file.
func (d *Daemon) hosts(i int) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("127.0.0.1 localhost %s\n%s %s\n", name, PoolAddress(i), PoolHost)
	return os.WriteFile(filepath.Join(d.Dir, "hosts"), []byte(text), 0o666)
}

// start starts a daemon. Its output is appended to its log.
func (d *Daemon) start() error {
	log, err := os.OpenFile(d.LogFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(d.Command[0], d.Command[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = d.Dir, append(os.Environ(), d.Env...), log, log
	ownGroup(c)
	if err := c.Start(); err != nil {
		return err
	}
	d.PID = c.Process.Pid
	go func() { _ = c.Wait() }() // the log shows the cause
	return nil
}

// terminate asks the daemon to end.
func (d *Daemon) terminate() { _ = signal(d.PID, terminate) }

// Kill ends the daemon, and all processes of its group, at once.
func (d *Daemon) Kill() { _ = signal(-d.PID, kill) }

// KillChildren ends the processes that the daemon has started, such as the executor of a worker of Spark, at once. It
// returns their number.
func (d *Daemon) KillChildren() (n int, err error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(out)) {
		var pid, parent int
		if _, err := fmt.Sscan(line, &pid, &parent); err == nil && parent == d.PID && signal(pid, kill) == nil {
			n++
		}
	}
	return n, nil
}

// Pause stops all processes of the group until Continue.
func (d *Daemon) Pause() error { return signal(-d.PID, pause) }

// Continue continues the processes that Pause has stopped.
func (d *Daemon) Continue() error { return signal(-d.PID, goOn) }

// Runs reports whether the daemon is still running.
func (d *Daemon) Runs() bool { return signal(d.PID, 0) == nil }

// same reports whether the process is the daemon, not a later process with the same number.
func (d *Daemon) same() bool {
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", fmt.Sprint(d.PID)).Output()
	return err == nil && strings.Contains(string(out), "-Dbloomery.daemon="+d.Dir+" ")
}

// Log returns the log of the daemon.
func (d *Daemon) Log() string {
	b, err := os.ReadFile(d.LogFile)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// end returns the end of the log.
func (d *Daemon) end() string {
	text := strings.TrimSpace(d.Log())
	return text[max(0, len(text)-1000):]
}
