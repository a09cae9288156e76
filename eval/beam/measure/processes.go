package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// process holds what /proc tells about a process.
type process struct {
	name string
	cpu  float64 // seconds, user and system
	peak float64 // MiB of resident memory
	seen int     // number of samples
}

// names maps parts of command lines to the names of processes in the tables.
var names = []struct{ part, name string }{
	{"StandaloneSessionClusterEntrypoint", "job manager"},
	{"TaskManagerRunner", "task manager"},
	{"FlinkJobServerDriver", "job server"},
	{"SparkJobServerDriver", "job server"},
	{"CoarseGrainedExecutorBackend", "executor"},
	{"deploy.master.Master", "master"},
	{"deploy.worker.Worker", "worker daemon"},
	{"\x00worker\x00", "pool"},
	{"\x00build\x00", "build"},
	{"\x00keys\x00", "keys"},
}

// children returns all descendants of this process by their ids.
func children() map[int]process {
	parents, all := map[int]int{}, map[int]process{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the field state on
		if len(fields) < 13 {
			continue
		}
		parents[pid], _ = strconv.Atoi(fields[1])
		user, _ := strconv.ParseFloat(fields[11], 64)
		system, _ := strconv.ParseFloat(fields[12], 64)
		all[pid] = process{cpu: (user + system) / 100} // USER_HZ
	}
	for pid, p := range all {
		if !descends(pid, parents) {
			delete(all, pid)
			continue
		}
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		for _, n := range names {
			if bytes.Contains(line, []byte(n.part)) {
				p.name = n.name
				break
			}
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			p.peak = kib / 1024
		}
		all[pid] = p
	}
	return all
}

// descends reports whether this process is an ancestor of another one.
func descends(pid int, parents map[int]int) bool {
	for range len(parents) {
		parent, ok := parents[pid]
		switch {
		case !ok || parent == 0:
			return false
		case parent == os.Getpid():
			return true
		}
		pid = parent
	}
	return false
}

// watched holds the results of a watch.
type watched struct {
	processes map[int]process // processes by id; cpu since the start of the watch
	samples   []sample
	files     int   // files at the peak
	bytes     int64 // bytes at the peak
}

// sample is the processor time since the start of the watch, in seconds, by the name of the process.
type sample struct {
	at  time.Time
	cpu map[string]float64
}

const watchInterval = 100 * time.Millisecond

// watch samples all processes that this process has started, and the files in a folder, until stop is called.
func watch(ctx context.Context, folder string) (stop func() watched) {
	ctx, cancel := context.WithCancel(ctx)
	before := children()
	seen := watched{processes: map[int]process{}}
	look := func() {
		now := sample{time.Now(), map[string]float64{}}
		for pid, p := range children() {
			p.cpu -= before[pid].cpu
			p.peak, p.seen = max(p.peak, seen.processes[pid].peak), seen.processes[pid].seen+1
			if p.name != "" {
				seen.processes[pid] = p
			}
		}
		for _, p := range seen.processes { // including processes that have ended
			now.cpu[p.name] += p.cpu
		}
		seen.samples = append(seen.samples, now)
		files, bytes := 0, int64(0)
		_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error { // files come and go
			if err == nil && e.Type().IsRegular() {
				files++
				if st, err := e.Info(); err == nil {
					bytes += st.Size()
				}
			}
			return nil
		})
		seen.files, seen.bytes = max(seen.files, files), max(seen.bytes, bytes)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			look()
			select {
			case <-ctx.Done():
			case <-time.After(watchInterval):
			}
		}
	})
	return func() watched { cancel(); done.Wait(); look(); return seen }
}

// cpu returns the processor time of the processes with these names in seconds: in total, and between the samples
// nearest to two times.
func (w watched) cpu(names []string, from, to time.Time) (all, between float64) {
	sum := func(s sample) (seconds float64) {
		for _, name := range names {
			seconds += s.cpu[name]
		}
		return seconds
	}
	for i, s := range w.samples {
		all = sum(s)
		if i > 0 && s.at.After(from) && w.samples[i-1].at.Before(to) {
			between += all - sum(w.samples[i-1])
		}
	}
	return all, between
}

// peaks returns the peak memory in MiB of each process with one of these names, in the order of names and process ids.
func (w watched) peaks(names []string) string {
	var all []string
	for _, name := range names {
		for _, pid := range slices.Sorted(maps.Keys(w.processes)) {
			if p := w.processes[pid]; p.name == name && p.seen > 2 { // not a short-lived fork
				all = append(all, fmt.Sprintf("%s %.0f", name, p.peak))
			}
		}
	}
	return strings.Join(all, ", ")
}
