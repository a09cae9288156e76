package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/eval/beam/clusters"
)

// machines is the number of task managers or executors of a cluster. Each has its own worker pool.
const machines = 2

// processorsOf returns the number of processors of each machine, its share of this machine. It is also the number of
// tasks that each machine runs at once.
func processorsOf() int { return max(runtime.GOMAXPROCS(0)/machines, 1) }

// startCluster starts a cluster.
func (b *bench) startCluster(engine string) (*clusters.Cluster, error) {
	settings := map[string]string{}
	if engine == clusters.Spark {
		if err := os.MkdirAll(b.path(eventsName), 0o777); err != nil {
			return nil, err
		}
		settings["spark.eventLog.enabled"], settings["spark.eventLog.dir"] = "true", "file://"+b.path(eventsName)
	}
	dir := b.path(fmt.Sprintf("%s-%d", engine, os.Getpid()))
	return clusters.Start(b.ctx, clusters.Config{
		Engine: engine, Dir: dir, Workers: machines, Slots: processorsOf(), OwnPools: true, Settings: settings,
		Note: func(text string) { fmt.Fprintln(os.Stderr, text) },
	})
}

// startPools starts a worker pool for each machine of a cluster, each in its own process, and returns when they listen.
func (b *bench) startPools() (config string, stop func(), err error) {
	port, err := freePort()
	if err != nil {
		return "", nil, err
	}
	var started []*exec.Cmd
	stop = func() {
		for _, c := range started {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	for i := range machines {
		address := fmt.Sprintf("%s:%d", clusters.PoolAddress(i+1), port)
		c := exec.Command(b.self, "worker", address)
		c.Stderr = os.Stderr
		c.Env = append(os.Environ(), timesVariable+"="+b.path(timesName), fmt.Sprint("GOMAXPROCS=", processorsOf()))
		if err := c.Start(); err != nil {
			stop()
			return "", nil, err
		}
		started = append(started, c)
		if err := listens(address); err != nil {
			stop()
			return "", nil, fmt.Errorf("worker pool: %w", err)
		}
	}
	return fmt.Sprintf("%s:%d", clusters.PoolHost, port), stop, nil
}

// listens waits until a process listens at an address.
func listens(address string) (err error) {
	for range 100 {
		var c net.Conn
		if c, err = net.Dial("tcp", address); err == nil {
			return c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// shuffled returns the bytes that the newest job has sent between its tasks, as the engine counts them.
func (b *bench) shuffled(c *clusters.Cluster) (int64, error) {
	if c.Engine == clusters.Spark {
		return sparkShuffled(b.path(eventsName))
	}
	return flinkShuffled(b.ctx, c)
}

// flinkShuffled returns the bytes that the tasks of the newest job have written for other tasks.
func flinkShuffled(ctx context.Context, c *clusters.Cluster) (n int64, err error) {
	type summary struct {
		JID   string `json:"jid"`
		Start int64  `json:"start-time"`
	}
	var overview struct {
		Jobs []summary `json:"jobs"`
	}
	if err := c.Ask(ctx, "/jobs/overview", &overview); err != nil {
		return 0, err
	}
	if len(overview.Jobs) == 0 {
		return 0, errors.New("no job is known to Flink")
	}
	newest := slices.MaxFunc(overview.Jobs, func(x, y summary) int { return cmp.Compare(x.Start, y.Start) })
	var job struct {
		Vertices []struct {
			Metrics struct {
				Written int64 `json:"write-bytes"`
			} `json:"metrics"`
		} `json:"vertices"`
	}
	if err := c.Ask(ctx, "/jobs/"+newest.JID, &job); err != nil {
		return 0, err
	}
	for _, v := range job.Vertices {
		n += v.Metrics.Written
	}
	return n, nil
}

// eventsName is the folder of Spark's event logs.
const eventsName = "events"

// sparkShuffled returns the bytes that the tasks of the newest job have written for other tasks, from its event log.
func sparkShuffled(dir string) (n int64, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) == 0 {
		return 0, errors.Join(err, errors.New("no event log of Spark"))
	}
	written := func(name string) time.Time {
		if st, err := os.Stat(name); err == nil {
			return st.ModTime()
		}
		return time.Time{}
	}
	f, err := os.Open(slices.MaxFunc(names, func(x, y string) int { return written(x).Compare(written(y)) }))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	tasks := 0
	for lines.Scan() {
		if !strings.Contains(lines.Text(), `"SparkListenerTaskEnd"`) {
			continue
		}
		var e struct {
			Metrics struct {
				Shuffle struct {
					Written int64 `json:"Shuffle Bytes Written"`
				} `json:"Shuffle Write Metrics"`
			} `json:"Task Metrics"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return 0, err
		}
		tasks++
		n += e.Metrics.Shuffle.Written
	}
	if tasks == 0 && lines.Err() == nil {
		return 0, fmt.Errorf("%s: no task has ended", f.Name())
	}
	return n, lines.Err()
}
