package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/eval/beam/clusters"
)

const timesName = "times"

// large is a build of part scale.
type large struct {
	keys int
	spec string
}

// Settings of the builds of part scale: memory is the limit of a process, and rangeBytes the size of a range, both in
// bytes.
const (
	shards     = 64
	memory     = 512 << 20
	rangeBytes = 32 << 20
)

// outcome holds the times and costs of a run of part scale.
type outcome struct {
	name     string
	wall     float64   // seconds, of the whole command
	begin    time.Time // begin of the first range
	hashed   time.Time // end of the last range
	built    time.Time // end of the last shard
	shuffled int64     // bytes, or -1
	watched
}

// scale builds sets of keys that are generated as they are read, with one process, with Prism, and on a cluster.
func (b *bench) scale() (err error) {
	var e *clusters.Cluster
	if b.cluster != "" {
		if e, err = b.startCluster(b.cluster); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.Stop(), os.RemoveAll(e.Dir)) }()
	}
	fmt.Println("## Scale: keys made as they are read")
	fmt.Println()
	fmt.Println("Times are in seconds. Steps: from the begin of the first range to the end of the last shard, without " +
		"start, upload and end of the job. Processor time: of the whole run, of the steps, of the ranges.")
	fmt.Println()
	fmt.Println("| spec | keys | shards | engine | whole run | steps | ranges | processor time, Go | " +
		"JVMs: whole run, steps | peak MiB, Go | peak MiB, JVMs | files at the peak | GB at the peak | bytes shuffled |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, n := range b.sizes {
		for _, spec := range strings.Split(b.specs, ";") {
			if err := b.scaleOf(large{n, spec}, e); err != nil {
				return err
			}
		}
	}
	fmt.Println()
	return nil
}

// scaleOf runs a build in turn with all engines, and prints their medians.
func (b *bench) scaleOf(l large, e *clusters.Cluster) error {
	runs := map[string][]outcome{}
	order := []string{"single", "prism", "cluster"}
	if e == nil {
		order = order[:2]
	}
	for round := range b.rounds {
		for i, name := range order {
			var o outcome
			var err error
			switch name {
			case "single":
				o, err = b.singleRun(l)
			case "prism":
				o, err = b.jobRun(l, nil)
			default:
				o, err = b.jobRun(l, e)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			runs[name] = append(runs[name], o)
			fmt.Fprintf(os.Stderr, "round %d: %s\n", round+1, o.line(l))
			if err := b.keepSame(i == 0); err != nil {
				return err
			}
		}
	}
	for _, name := range order {
		fmt.Println(middle(runs[name]).line(l))
	}
	if e != nil {
		var ratios []float64
		for i, o := range runs["cluster"] {
			ratios = append(ratios, o.steps()/runs["prism"][i].steps())
		}
		slices.Sort(ratios)
		fmt.Printf("| %s | %s | | ratio of the steps, %s to prism | | %.2f (%.2f to %.2f) | | | | | | | | |\n", l.spec,
			count(l.keys), b.cluster, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	}
	return os.RemoveAll(b.path("first"))
}

// keepSame keeps the first set of a build and compares the others with it.
func (b *bench) keepSame(first bool) error {
	if _, err := os.Stat(b.path("first")); first && err != nil {
		return os.Rename(b.path("set"), b.path("first"))
	}
	if err := same(b.path("set"), b.path("first")); err != nil {
		return err
	}
	return os.RemoveAll(b.path("set"))
}

// middle returns the run with the median time of the steps, or of the command, and the largest peaks of all runs.
func middle(all []outcome) outcome {
	sorted := slices.SortedFunc(slices.Values(all), func(x, y outcome) int {
		return cmp.Or(cmp.Compare(x.steps(), y.steps()), cmp.Compare(x.wall, y.wall))
	})
	return sorted[len(sorted)/2]
}

// steps returns the time from the begin of the first range to the end of the last shard, in seconds.
func (o outcome) steps() float64 { return o.built.Sub(o.begin).Seconds() }

// ours and jvms list names of processes.
var (
	ours = []string{"keys", "build", "pool"}
	jvms = []string{"job server", "job manager", "task manager", "master", "worker daemon", "executor"}
)

func count(n int) string { return fmt.Sprintf("%.4gM", float64(n)/1e6) }

// line returns the row of a run.
func (o outcome) line(l large) string {
	cpu, ranges := o.cpu(ours, o.begin, o.hashed)
	_, steps := o.cpu(ours, o.begin, o.built)
	java, javaSteps := o.cpu(jvms, o.begin, o.built)
	shuffled := "–"
	if o.shuffled >= 0 {
		shuffled = fmt.Sprint(o.shuffled)
	}
	times := fmt.Sprintf("%.1f | %.2f | %.2f | %.1f, %.1f, %.1f | %.1f, %.1f", o.wall, o.steps(),
		o.hashed.Sub(o.begin).Seconds(), cpu, steps, ranges, java, javaSteps)
	return fmt.Sprintf("| %s | %s | %d | %s | %s | %s | %s | %d | %.2f | %s |", l.spec, count(l.keys), shards, o.name,
		times, o.peaks(ours), o.peaks(jvms), o.files, float64(o.bytes)/1e9, shuffled)
}

// singleRun runs bloomery build with keys from a pipe.
func (b *bench) singleRun(l large) (outcome, error) {
	source := exec.CommandContext(b.ctx, b.self, "keys", "0", fmt.Sprint(l.keys))
	source.Stderr = os.Stderr
	c := exec.CommandContext(b.ctx, b.path("bloomery"), "build", "--quiet", "--shards", fmt.Sprint(shards), "--family",
		l.spec, "--memory", fmt.Sprint(memory), "-o", b.path("set"), "-")
	var text bytes.Buffer
	c.Stderr = &text
	c.Env = append(os.Environ(), "TMPDIR="+b.path("tmp"))
	var err error
	if c.Stdin, err = source.StdoutPipe(); err != nil {
		return outcome{}, err
	}
	if err := os.MkdirAll(b.path("tmp"), 0o777); err != nil {
		return outcome{}, err
	}
	start, stop := time.Now(), watch(b.ctx, b.path("tmp"))
	if err = source.Start(); err == nil {
		err = c.Run()
	}
	if err != nil {
		stop()
		return outcome{}, fmt.Errorf("%w: %s", err, &text)
	}
	if err := source.Wait(); err != nil {
		return outcome{}, err
	}
	return outcome{name: "one process", wall: time.Since(start).Seconds(), shuffled: -1, watched: stop()}, nil
}

// jobRun runs a job on Prism, in one process, or on a cluster, with a worker pool for each machine of the cluster.
func (b *bench) jobRun(l large, e *clusters.Cluster) (o outcome, err error) {
	input, err := b.recipe(l.keys)
	if err != nil {
		return o, err
	}
	r := request{Input: input, Output: b.path("set"), Spec: l.spec, Runner: "prism"}
	o.name = "Prism in process"
	if e != nil {
		pool, stop, err := b.startPools()
		if err != nil {
			return o, err
		}
		defer stop()
		o.name, r.Runner, r.Endpoint, r.Pool = e.Engine, e.Engine, e.JobServer, pool
		r.Parallelism = e.Workers * e.Slots
	}
	if err := os.RemoveAll(b.path(timesName)); err != nil {
		return o, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return o, err
	}
	c := exec.CommandContext(b.ctx, b.self, "build", string(text))
	var out bytes.Buffer
	c.Stderr = &out
	c.Env = append(os.Environ(), timesVariable+"="+b.path(timesName))
	start, stop := time.Now(), watch(b.ctx, b.path("set"))
	err = c.Run()
	o.wall = time.Since(start).Seconds()
	o.watched = stop()
	if err != nil {
		return o, fmt.Errorf("%w: %s", err, &out)
	}
	if o.shuffled = -1; e != nil {
		if o.shuffled, err = b.shuffled(e); err != nil {
			return o, err
		}
	}
	return o, b.stepTimes(&o)
}

// stepTimes sets the times of the steps: the workers have recorded when each range began and ended, and the
// modification times of the shards tell when they were written.
func (b *bench) stepTimes(o *outcome) error {
	text, err := os.ReadFile(b.path(timesName))
	if err != nil {
		return err
	}
	var begin, hashed, built int64
	for line := range strings.Lines(string(text)) {
		var pid int
		var from, to int64
		if _, err := fmt.Sscan(line, &pid, &from, &to); err != nil {
			return fmt.Errorf("%s: %q: %w", timesName, line, err)
		}
		if begin == 0 {
			begin = from
		}
		begin, hashed = min(begin, from), max(hashed, to)
	}
	err = filepath.WalkDir(b.path("set"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".bloom" {
			return err
		}
		st, err := e.Info()
		if err == nil {
			built = max(built, st.ModTime().UnixNano())
		}
		return err
	})
	o.begin, o.hashed, o.built = time.Unix(0, begin), time.Unix(0, hashed), time.Unix(0, built)
	return err
}
