// Package clusters starts the real daemons of Flink or Spark on this machine, each a JVM that listens on localhost, and
// Beam's job server. The jars come from Maven; no Docker is needed. It is for tests and experiments.
package clusters

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/eval/mavenjars"
)

// Engines.
const (
	Flink = "flink"
	Spark = "spark"
)

// Engines lists the engines.
func Engines() []string { return []string{Flink, Spark} }

// Config configures a cluster.
type Config struct {
	Engine string // one of Engines
	// Dir is a new folder for configuration, logs and the state that Load reads.
	Dir string
	// Workers is the number of task managers of Flink, or of workers of Spark with one executor each.
	Workers int
	// Slots is the number of tasks that a worker runs at the same time. Default: 2.
	Slots int
	// Port is the port of the job server. Default: a free one.
	Port int
	// Settings are added to the configuration of the engine, such as restart-strategy.type or spark.task.maxFailures.
	Settings map[string]string
	// OwnPools: worker i, from 1, resolves the name PoolHost to PoolAddress(i), where its own worker pool may listen.
	// On systems other than Linux, these addresses must be created first.
	OwnPools bool
	// Note, if not nil, is called with a description of each long step.
	Note func(string)
}

// PoolHost is the name of the worker pool of each worker: see Config.OwnPools.
const PoolHost = "pool.localhost"

// PoolAddress returns the address of the worker pool of worker i.
func PoolAddress(i int) string { return fmt.Sprintf("127.0.0.%d", i+1) }

// Cluster is a running cluster. Its methods must not be called at the same time.
type Cluster struct {
	Engine    string    `json:"engine"`
	JobServer string    `json:"job_server"` // HOST:PORT of Beam's job server
	Web       string    `json:"web"`        // URL of the engine's pages and REST API
	Workers   int       `json:"workers"`
	Slots     int       `json:"slots"` // slots of each worker
	Dir       string    `json:"dir"`
	Daemons   []*Daemon `json:"daemons"`

	engine engine
	jars   string
	rpc    int // port of the job manager or master
}

// engine lists the methods in which Flink and Spark differ.
type engine interface {
	// project is the Maven project of the jars, and the name of the folder that keeps them.
	project() (pom []byte, folder string)
	// daemons writes the configuration and returns the daemons in the order in which they start: the manager, the
	// workers, the job server.
	daemons(c *Cluster, o Config) ([]*Daemon, error)
	// registered returns the number of workers that are registered with the manager.
	registered(ctx context.Context, c *Cluster) (int, error)
}

var engines = map[string]engine{Flink: flink{}, Spark: spark{}}

// The releases of Java on which the engines run. Beam's job server for Spark fails on later releases.
const oldestJava, newestJava = 11, 21

// Lacking returns a sentence that names the requirements of a cluster that this machine lacks, or "".
func Lacking() string {
	if runtime.GOOS == "windows" {
		return "a cluster needs a Unix system; use WSL"
	}
	return mavenjars.Lacking("a cluster", oldestJava, newestJava)
}

const (
	startTimeout = 90 * time.Second // timeout of all daemons
	stopTimeout  = 10 * time.Second
)

// Start starts a cluster and returns when all workers are registered and the job server listens. The daemons outlive
// this process: call Stop. After an error, no daemon runs and the folder is removed. The error contains the end of a
// daemon's log.
func Start(ctx context.Context, o Config) (c *Cluster, err error) {
	if o.Slots == 0 {
		o.Slots = 2
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	switch {
	case engines[o.Engine] == nil:
		return nil, fmt.Errorf("engine %q: want %s", o.Engine, strings.Join(Engines(), " or "))
	case o.Workers < 1 || o.Workers > 100:
		return nil, fmt.Errorf("%d workers: want 1 to 100", o.Workers)
	}
	if lacks := Lacking(); lacks != "" {
		return nil, errors.New(lacks)
	}
	c = &Cluster{Engine: o.Engine, Workers: o.Workers, Slots: o.Slots, engine: engines[o.Engine]}
	if c.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	pom, folder := c.engine.project()
	if c.jars, err = mavenjars.Load(ctx, folder, pom, o.Note); err != nil {
		return nil, err
	}
	if err := c.ports(o.Port); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(c.Dir), 0o777); err != nil {
		return nil, err
	}
	if err := os.Mkdir(c.Dir, 0o777); err != nil {
		return nil, err
	}
	c.Daemons, err = c.engine.daemons(c, o)
	for _, d := range c.Daemons {
		if err == nil {
			err = d.start()
		}
	}
	if err == nil {
		err = c.save()
	}
	if err == nil {
		o.Note(fmt.Sprintf("starting %s with %d workers", o.Engine, o.Workers))
		err = c.Wait(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}

// ports chooses the ports that must be known before the daemons start. These are the ports of the job server (0: a free
// port), of the web page, and of the manager.
func (c *Cluster) ports(jobServer int) error {
	listeners := make([]int, 0, 3)
	for _, port := range []int{jobServer, 0, 0} {
		l, err := net.Listen("tcp", fmt.Sprintf("localhost:%d", port))
		if err != nil {
			return fmt.Errorf("port of the job server: %w; stop what listens there, or name another port", err)
		}
		defer l.Close() // after the loop, so that no port is chosen twice
		listeners = append(listeners, l.Addr().(*net.TCPAddr).Port)
	}
	c.JobServer = fmt.Sprintf("localhost:%d", listeners[0])
	c.Web = fmt.Sprintf("http://localhost:%d", listeners[1])
	c.rpc = listeners[2]
	return nil
}

// Wait returns when all workers are registered and the job server listens.
func (c *Cluster) Wait(ctx context.Context) error {
	late := time.After(startTimeout)
	for {
		n, err := c.engine.registered(ctx, c)
		conn, err2 := net.Dial("tcp", c.JobServer)
		if err2 == nil {
			conn.Close()
			if n == c.Workers {
				return nil
			}
		}
		for _, d := range c.Daemons {
			if !d.Runs() {
				return fmt.Errorf("the %s has ended: %s", d.Name, d.end())
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late:
			return fmt.Errorf("after %v, %d of %d workers are registered: %w", startTimeout, n, c.Workers,
				errors.Join(err, err2))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Daemon returns the daemon with the given name, or an error that lists the names.
func (c *Cluster) Daemon(name string) (*Daemon, error) {
	var names []string
	for _, d := range c.Daemons {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return nil, fmt.Errorf("no daemon %q: want one of %s", name, strings.Join(names, ", "))
}

// Restart restarts a daemon that has ended.
func (c *Cluster) Restart(name string) error {
	d, err := c.Daemon(name)
	if err != nil {
		return err
	}
	return errors.Join(d.start(), c.save())
}

// Stop ends all daemons with the processes that they have started. It returns when they have ended.
func (c *Cluster) Stop() error {
	for _, d := range c.Daemons {
		d.terminate()
	}
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		i := slices.IndexFunc(c.Daemons, (*Daemon).Runs)
		took := time.Since(start)
		switch {
		case i < 0:
			for _, d := range c.Daemons {
				d.Kill() // executors of Spark
			}
			return nil
		case took > 2*stopTimeout:
			return fmt.Errorf("the %s, process %d, does not end", c.Daemons[i].Name, c.Daemons[i].PID)
		case took > stopTimeout:
			c.Daemons[i].Kill()
		}
	}
}

// stagedNever is a folder of jars that Beam's job servers do not send to the engine for each job, because of its name
// (class PipelineResources): 150 MB and more, which the engine already has.
const stagedNever = "gradle/wrapper"

// assemble returns the daemons of JVMs: the first is the manager, the last the job server, the others are workers.
func (c *Cluster) assemble(all []jvm, ownPools bool) ([]*Daemon, error) {
	jobServer := len(all) - 1
	var daemons []*Daemon
	for i, j := range all {
		if j.jars = c.jars; i == jobServer {
			j.jars = filepath.Join(c.Dir, stagedNever)
			if err := os.MkdirAll(filepath.Dir(j.jars), 0o777); err != nil {
				return nil, err
			}
			if err := os.Symlink(c.jars, j.jars); err != nil {
				return nil, err
			}
		}
		d, err := c.daemon(j)
		if err != nil {
			return nil, err
		}
		if ownPools && i > 0 && i < jobServer {
			if err := d.hosts(i); err != nil {
				return nil, err
			}
		}
		daemons = append(daemons, d)
	}
	return daemons, nil
}

// jobServerArgs returns the arguments of the job servers of all engines.
func jobServerArgs(c *Cluster) []string {
	return []string{"--job-host=localhost", "--job-port=" + c.JobServer[strings.LastIndex(c.JobServer, ":")+1:],
		"--artifact-port=0", "--expansion-port=0"}
}
