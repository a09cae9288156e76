// Package clusters starts the real daemons of Flink on this machine, for tests: one job manager, some task managers and
// Beam's job server, each a JVM that listens on localhost. The jars come from Maven; no Docker is needed.
package clusters

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// JarsVariable names the folder in which jars are kept. Default: a folder in os.UserCacheDir.
const JarsVariable = "BLOOMERY_CLUSTER_JARS"

// flinkJars is the folder of the jars of this version of flink.xml, in that of JarsVariable.
const flinkJars = "flink-1.19-beam-2.62.0"

//go:embed flink.xml
var flinkProject []byte

const (
	startTimeout = 90 * time.Second // of all daemons
	stopTimeout  = 10 * time.Second
)

// Lacking returns a sentence that says which program a cluster needs and this machine lacks, or "".
func Lacking() string {
	for _, program := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("a Flink cluster needs Java 17 and Maven; there is no %s in PATH", program)
		}
	}
	return ""
}

// Flink is a cluster that runs.
type Flink struct {
	JobServer string // HOST:PORT of Beam's job server
	REST      string // URL of Flink's REST API
	dir, jars string
	daemons   []*daemon
}

// daemon is a process of a cluster.
type daemon struct {
	name string
	cmd  *exec.Cmd
	over chan struct{} // closed when it has ended
}

// StartFlink starts a cluster with so many task managers, each with two slots, and returns when all are registered. Its
// configuration and logs are in dir. Options are lines of Flink's configuration, such as
// "restart-strategy.type: fixed-delay".
func StartFlink(ctx context.Context, dir string, managers int, options ...string) (f *Flink, err error) {
	f = &Flink{dir: dir}
	if f.jars, err = flinkFolder(ctx); err != nil {
		return nil, err
	}
	ports, err := freePorts(5)
	if err != nil {
		return nil, err
	}
	f.REST = fmt.Sprintf("http://localhost:%d", ports[1])
	f.JobServer = fmt.Sprintf("localhost:%d", ports[2])
	lines := append(flinkOptions(ports[0], ports[1], managers), options...)
	if err := os.Mkdir(filepath.Join(dir, "conf"), 0o777); err != nil {
		return nil, err
	}
	err = os.WriteFile(filepath.Join(dir, "conf", "flink-conf.yaml"), []byte(strings.Join(lines, "\n")+"\n"), 0o666)
	if err != nil {
		return nil, err
	}
	err = f.java("job-manager", "448m", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
		"--configDir", "conf", "--host", "localhost")
	for i := 0; i < managers && err == nil; i++ {
		err = f.java(fmt.Sprintf("task-manager-%d", i+1), "384m",
			"org.apache.flink.runtime.taskexecutor.TaskManagerRunner", "--configDir", "conf")
	}
	if err == nil {
		err = f.java("job-server", "512m", "org.apache.beam.runners.flink.FlinkJobServerDriver",
			"--flink-master=localhost:"+fmt.Sprint(ports[1]), "--job-host=localhost", fmt.Sprint("--job-port=", ports[2]),
			fmt.Sprint("--artifact-port=", ports[3]), fmt.Sprint("--expansion-port=", ports[4]))
	}
	if err == nil {
		err = f.wait(ctx, managers)
	}
	if err != nil {
		f.Stop()
		return nil, err
	}
	return f, nil
}

// flinkOptions returns the lines of the configuration. Flink's own scripts would compute the sizes of the memory.
func flinkOptions(rpc, rest, managers int) []string {
	return []string{
		"jobmanager.rpc.address: localhost",
		fmt.Sprint("jobmanager.rpc.port: ", rpc),
		"jobmanager.bind-host: localhost",
		"jobmanager.memory.process.size: 1024m",
		"rest.address: localhost",
		"rest.bind-address: localhost",
		fmt.Sprint("rest.port: ", rest),
		"taskmanager.host: localhost",
		"taskmanager.bind-host: localhost",
		"taskmanager.numberOfTaskSlots: 2",
		"taskmanager.cpu.cores: 2.0",
		"taskmanager.memory.framework.heap.size: 128mb",
		"taskmanager.memory.framework.off-heap.size: 128mb",
		"taskmanager.memory.task.heap.size: 256mb",
		"taskmanager.memory.task.off-heap.size: 0b",
		"taskmanager.memory.network.min: 64mb",
		"taskmanager.memory.network.max: 64mb",
		"taskmanager.memory.managed.size: 128mb",
		"taskmanager.memory.jvm-metaspace.size: 256mb",
		"taskmanager.memory.jvm-overhead.min: 64mb",
		"taskmanager.memory.jvm-overhead.max: 64mb",
		fmt.Sprint("parallelism.default: ", 2*managers),
	}
}

// flinkFolder returns the folder with the jars, after loading them if they are not there: 152 MB.
func flinkFolder(ctx context.Context) (string, error) {
	top := os.Getenv(JarsVariable)
	if top == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w; name a folder for jars in %s", err, JarsVariable)
		}
		top = filepath.Join(cache, "bloomery-clusters")
	}
	jars := filepath.Join(top, flinkJars)
	if _, err := os.Stat(jars); err == nil {
		return jars, nil
	}
	if err := os.MkdirAll(top, 0o777); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(top, "loading-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	project := filepath.Join(tmp, "pom.xml")
	if err := os.WriteFile(project, flinkProject, 0o666); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", project, "dependency:copy-dependencies",
		"-DoutputDirectory=jars")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("loading the jars of Flink: %w: %s", err, bytes.TrimSpace(out))
	}
	if err := os.Rename(filepath.Join(tmp, "jars"), jars); err != nil {
		return "", err
	}
	return jars, nil
}

// freePorts returns TCP ports of localhost that were free a moment ago.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // after all: no port comes twice
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// java starts a daemon. Its log is name.log.
func (f *Flink) java(name, heap, class string, args ...string) error {
	log, err := os.Create(filepath.Join(f.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	var all []string
	for _, pkg := range []string{
		"java.lang", "java.lang.reflect", "java.util", "java.util.concurrent", "java.net", "java.io", "java.nio",
		"sun.nio.ch", "java.text", "java.time",
	} {
		all = append(all, "--add-opens=java.base/"+pkg+"=ALL-UNNAMED")
	}
	all = append(all, "-Xmx"+heap, "-cp", filepath.Join(f.jars, "*"), class)
	d := &daemon{name, exec.Command("java", append(all, args...)...), make(chan struct{})}
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = f.dir, log, log
	if err := d.cmd.Start(); err != nil {
		return err
	}
	f.daemons = append(f.daemons, d)
	go func() {
		_ = d.cmd.Wait() // the log has the cause
		close(d.over)
	}()
	return nil
}

// wait returns when all task managers are registered and the job server listens.
func (f *Flink) wait(ctx context.Context, managers int) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		n := f.managers(ctx)
		c, err := net.Dial("tcp", f.JobServer)
		if err == nil {
			c.Close()
			if n == managers {
				return nil
			}
		}
		for _, d := range f.daemons {
			select {
			case <-d.over:
				return fmt.Errorf("the %s has ended: %s", d.name, f.end(d.name))
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %v, %d of %d task managers are registered; job server: %w", startTimeout, n, managers,
				errors.Join(err, ctx.Err()))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// managers returns the number of task managers that are registered.
func (f *Flink) managers(ctx context.Context) int {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.REST+"/overview", nil)
	if err != nil {
		return 0
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer a.Body.Close()
	var overview struct{ TaskManagers int }
	if json.NewDecoder(a.Body).Decode(&overview) != nil {
		return 0
	}
	return overview.TaskManagers
}

// Log returns the log of a daemon: job-manager, task-manager-1 and so on, or job-server.
func (f *Flink) Log(name string) string {
	b, err := os.ReadFile(filepath.Join(f.dir, name+".log"))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// end returns the end of a log.
func (f *Flink) end(name string) string {
	text := strings.TrimSpace(f.Log(name))
	return text[max(0, len(text)-1000):]
}

// Stop ends all daemons and returns when they have ended.
func (f *Flink) Stop() {
	for _, d := range f.daemons {
		_ = d.cmd.Process.Signal(os.Interrupt)
	}
	late := time.After(stopTimeout)
	for _, d := range f.daemons {
		select {
		case <-d.over:
		case <-late:
			_ = d.cmd.Process.Kill()
			<-d.over
			late = time.After(0)
		}
	}
}
