package beam

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/eval/beam/clusters"
	"github.com/bloomery/bloomery/shard"
)

// Time limits of trials on clusters. They are generous, because the machine may be busy with other work.
const (
	patience  = 4 * time.Minute  // longest wait for the end of a command
	farewell  = 90 * time.Second // longest wait for the end of an interrupted command
	awakening = 2 * time.Second  // longest wait for the restart of a killed process
	retrying  = 5 * time.Second  // between two tries of a command
	tries     = 20               // number of tries of a command, while a job of a killed submitter may still run
)

// trial is a cluster on which processes are killed, with a worker pool for each worker of the engine.
type trial struct {
	*site
	t            *testing.T
	r            *rand.Rand
	port         int // port of the pools
	pools        []*exec.Cmd
	paused       bool // a worker of the engine is paused
	restarts     bool // the engine restarts failed tasks, and Spark's master remembers its jobs
	inputs, want string
	same         func(t *testing.T, got, want string) // fails unless two folders have the same set
}

const (
	trialSpec   = "partitioned(bits_per_key=10)" // its search takes a large part of the job
	trialShards = 16
)

// quick returns settings with which an engine soon detects that a process has ended.
func quick(engine string) map[string]string {
	if engine == clusters.Spark {
		return map[string]string{"spark.network.timeout": "60s", "spark.executor.heartbeatInterval": "2s"}
	}
	return map[string]string{
		"heartbeat.interval": "1000", "heartbeat.timeout": "15000", "heartbeat.rpc-failure-threshold": "2",
		"slot.request.timeout": "60000",
	}
}

// restarting returns settings with which an engine restarts failed tasks if restarts is true, and else does not.
func restarting(engine string, restarts bool) map[string]string {
	if engine == clusters.Spark {
		failures := "1"
		if restarts {
			failures = "4"
		}
		return map[string]string{"spark.task.maxFailures": failures}
	}
	if !restarts {
		return map[string]string{"restart-strategy.type": "none"}
	}
	return map[string]string{
		"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "3",
		"restart-strategy.fixed-delay.delay": "1 s",
	}
}

// newTrial starts a cluster with pools. inputs is the pattern of the keys, want the set of the single process. Settings
// of o override others.
func newTrial(
	t *testing.T, s *site, r *rand.Rand, o clusters.Config, restarts bool, inputs, want string,
) *trial {
	k := &trial{site: s, t: t, r: r, port: freePort(t), restarts: restarts, inputs: inputs, want: want, same: sameSets}
	own := o.Settings
	o.OwnPools, o.Settings = true, quick(o.Engine)
	maps.Copy(o.Settings, restarting(o.Engine, restarts))
	if o.Engine == clusters.Spark && restarts {
		o.Settings["spark.deploy.recoveryMode"] = "FILESYSTEM"
		o.Settings["spark.deploy.recoveryDirectory"] = s.path(fmt.Sprint("recovery-", k.port))
	}
	for name, value := range own {
		if strings.HasPrefix(name, "spark.") == (o.Engine == clusters.Spark) {
			o.Settings[name] = value
		}
	}
	s.start(t, o)
	for i := range o.Workers {
		k.pools = append(k.pools, s.pool(t, clusters.PoolAddress(i+1), k.port))
	}
	return k
}

// command returns the command of a job. Its errors go to a buffer.
func (k *trial) command(out string, more ...string) (c *exec.Cmd, text *bytes.Buffer) {
	args := append([]string{"-q", "--environment", "external",
		"--environment-config", fmt.Sprintf("%s:%d", clusters.PoolHost, k.port)}, more...)
	c, text = k.job(out, k.inputs, trialSpec, trialShards, args...), new(bytes.Buffer)
	c.Stderr = text
	return c, text
}

// startJob starts a command and returns a channel that receives its error.
func (k *trial) startJob(c *exec.Cmd) <-chan error {
	k.t.Helper()
	if err := c.Start(); err != nil {
		k.t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- c.Wait() }()
	return over
}

// await waits until a command ends. If the command does not end in time, await interrupts it, as a user would, and hung
// is true.
func (k *trial) await(c *exec.Cmd, over <-chan error) (hung bool, err error) {
	k.t.Helper()
	select {
	case err := <-over:
		return false, err
	case <-time.After(patience):
	}
	_ = c.Process.Signal(os.Interrupt)
	select {
	case err := <-over:
		return true, err
	case <-time.After(farewell):
		_ = c.Process.Kill()
		k.t.Fatalf("the submitter does not end %v after Ctrl-C", farewell)
		return true, nil
	}
}

// revive restarts processes that have ended, as a supervisor would. It does not wait until they are ready.
func (k *trial) revive() {
	k.t.Helper()
	time.Sleep(awakening)
	for _, d := range k.cluster.Daemons {
		if d.Runs() {
			continue
		}
		if err := k.cluster.Restart(d.Name); err != nil {
			k.t.Fatal(err)
		}
	}
	for i, p := range k.pools {
		if p.ProcessState != nil {
			k.pools[i] = k.pool(k.t, clusters.PoolAddress(i+1), k.port)
		}
	}
}

// ready waits until the cluster is complete. A daemon that could not start, for example because another process had its
// port, is started again.
func (k *trial) ready() {
	k.t.Helper()
	var err error
	for range 3 {
		if err = k.cluster.Wait(k.t.Context()); err == nil {
			return
		}
		k.t.Logf("the cluster is not complete: %v", err)
		k.revive()
	}
	k.t.Fatal(err)
}

// sentence returns the first line of an error of the program. It fails the test unless a user can understand the line.
func (k *trial) sentence(text string) string {
	k.t.Helper()
	line, _, _ := strings.Cut(text, "\n")
	says, ours := strings.CutPrefix(line, "bloomery-beam: ")
	if !ours || len(strings.Fields(says)) < 4 || strings.Contains(text, "goroutine ") {
		k.t.Errorf("no clear error: %s", text)
	}
	return says
}

// complete repeats a command until it succeeds, and compares the set. It returns how often it was run.
func (k *trial) complete(out string) (runs int) {
	k.t.Helper()
	for runs = 1; ; runs++ {
		if !k.paused {
			k.ready()
		}
		c, text := k.command(out)
		hung, err := k.await(c, k.startJob(c))
		checkManifest(k.t, k.path(out))
		if err == nil {
			break
		}
		k.t.Logf("  run %d fails, hung %v: %s", runs, hung, cut(k.sentence(text.String())))
		if runs == tries {
			k.t.Fatalf("%d runs failed: %s", runs, text)
		}
		time.Sleep(retrying)
		k.revive()
	}
	k.same(k.t, k.path(out), k.want)
	return runs
}

func cut(text string) string { return text[:min(len(text), 300)] }

// phase returns the phase of the job that builds in dir: starting, hashing, building or finished.
func phase(dir string) string {
	there := func(pattern string) bool {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		return len(found) > 0
	}
	switch {
	case there(shard.ManifestName):
		return "finished"
	case there("work-*/index"):
		return "building"
	case there("work-*/*range-*"):
		return "hashing"
	}
	return "starting"
}
