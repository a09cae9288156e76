// Package scale computes the cost of a distributed build of a very large set (package distribute), and simulates its
// stragglers and lost workers. docs/measured/scale.md shows the results.
package scale

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{scaleBuild, scaleStragglers}
}

// scaleBuild computes sizes, requests, time and cost of builds.
var scaleBuild = experiment.Experiment{
	Name: "scale-build", Source: "docs/measured/scale.md", Varies: "number of keys and shards", Run: runBuild, Seconds: 1,
}

// Costs that were measured or that follow from the formats. See docs/measured/scale.md.
const (
	hashBytes  = 16      // bytes of a key in a run file
	groupKeys  = 1 << 22 // keys of a group of a run file: internal/hashes.GroupKeys
	doneBytes  = 8       // bytes of a group and shard in a run file, and in a Done
	indexBytes = 20      // bytes of a group and shard in the shard index
	entryBytes = 192     // bytes of a shard in the manifest
	planBytes  = 50      // bytes of a range in the plan
	rangeReads = 6       // reads of a range: internal/steps.TestRequests
	shardReads = 13      // reads of a shard, without segments: internal/steps.TestRequests
	rangeCPU   = 60e-9   // seconds per key: read, hash, write
	shardOpen  = 31e-6   // seconds to open a shard of a set, its file in the page cache
)

// builds are the families of the tables: seconds of CPU per key, bits per key, and bytes of memory per key without the
// filter.
var builds = []struct {
	name      string
	cpu, bits float64
	memory    float64
}{
	{"blocked, 10 bits", 25e-9, 10, 0.2},
	{"partitioned fast, 8 bits", 580e-9, 8, 25},
}

// Assumed properties of the machines and the store, and prices in US dollars; docs/measured/scale.md has the sources.
const (
	lineBytes   = 20 // bytes of a key in the input
	workers     = 100
	cores       = 2       // cores of a worker
	bandwidth   = 100e6   // bytes per second of a worker, in both directions together
	latency     = 0.03    // seconds until the first byte of a read
	prefixReads = 5500    // a second, of one prefix
	parallel    = 16      // reads at the same time of a worker
	partBytes   = 8 << 20 // bytes of a multipart upload
	workerHour  = 0.0816
	putPrice    = 0.005 / 1000
	getPrice    = 0.0004 / 1000
)

// job is a build: the numbers that follow from keys, shards and the size of a range.
type job struct {
	keys, shards, ranges, groups float64
}

func newJob(keys, shards, rangeBytes float64) job {
	perRange := rangeBytes / lineBytes
	j := job{keys: keys, shards: shards, ranges: math.Ceil(keys / perRange)}
	j.groups = j.ranges * math.Ceil(perRange/groupKeys)
	return j
}

// segments returns the number of parts of run files that the tasks of all shards read.
func (j job) segments() float64 { return j.groups * j.shards }

// read returns the bytes that all workers read: the input, run files and indexes. written returns the bytes that they
// write: run files, indexes and filters.
func (j job) read() float64 { return j.keys*(lineBytes+hashBytes) + j.segments()*indexBytes }

func (j job) written(bits float64) float64 {
	return j.keys*(hashBytes+bits/8) + j.segments()*(doneBytes+indexBytes)
}

// shardsReads returns the number of reads of the step that builds the shards.
func (j job) shardsReads() float64 { return shardReads*j.shards + j.segments() }

// gets returns the number of reads.
func (j job) gets() float64 { return rangeReads*j.ranges + j.shardsReads() }

// puts returns the number of writes. Each part of an upload counts, and 2 more writes for each object.
func (j job) puts(bits float64) float64 {
	return j.keys*(hashBytes+bits/8)/partBytes + 2*j.ranges + 3*j.shards
}

// seconds returns the time of the ranges and of the shards without stragglers: the time of the CPU, of the network or
// of the latency of reads, whichever is longest. limited is the time of the shards if all objects have the same prefix.
func (j job) seconds(cpu, bits float64) (ranges, shards, limited float64) {
	ranges = max(j.keys*rangeCPU/cores, j.keys*(lineBytes+hashBytes)/bandwidth) / workers
	shards = max(j.keys*cpu/cores, j.keys*(hashBytes+bits/8)/bandwidth, j.shardsReads()*latency/parallel) / workers
	return ranges, shards, max(shards, j.shardsReads()/prefixReads)
}

// largest returns the number of keys that the largest shard exceeds in one of 1000 sets, by the normal distribution.
func (j job) largest() float64 {
	mean := j.keys / j.shards
	return mean + math.Sqrt2*math.Erfinv(1-2e-3/j.shards)*math.Sqrt(mean)
}

// jobs are the jobs of the tables: keys, shards, MiB of a range.
var jobs = [][3]float64{
	{1e9, 250, 80}, {1e10, 1000, 80}, {1e11, 1000, 80}, {1e11, 4000, 80},
}

func runBuild(_ context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1)
	defer c.Work(1).Step(1)
	result.Plots = []figure.Plot{minutes()}
	for _, n := range jobs {
		j := newJob(n[0], n[1], n[2]*(1<<20))
		name := fmt.Sprintf("%.0e keys, %.0f shards, ranges of %.0f MiB: ", n[0], n[1], n[2])
		for _, row := range j.rows() {
			row.Label = name + row.Label
			result.Add(row)
		}
	}
	result.Notes = append(result.Notes, fmt.Sprintf(
		"Computed, not measured: keys of %d bytes; %d workers with %d cores, %.0f MB/s, %.0f ms a read and %d reads "+
			"at a time.",
		lineBytes, workers, cores, bandwidth/1e6, latency*1000, parallel))
	return result, nil
}

// minutes plots the time of a build of blocked filters by the numbers of keys and shards.
func minutes() figure.Plot {
	p := figure.Plot{
		Name: "scale-build", Title: fmt.Sprintf("Time of a build with %d workers, blocked, 10 bits per key", workers),
		X: "keys", Y: "minutes", LogX: true, LogY: true,
	}
	for _, shards := range []float64{250, 1000, 4000, 16000} {
		curve := figure.Curve{Name: fmt.Sprintf("%.0f shards", shards)}
		for keys := 1e9; keys <= 1e12; keys *= math.Sqrt(math.Sqrt(10)) {
			ranges, _, limited := newJob(keys, shards, 80<<20).seconds(builds[0].cpu, builds[0].bits)
			curve.AddPoint(keys, (ranges+limited)/60)
		}
		p.Curves = append(p.Curves, curve)
	}
	return p
}

// rows returns the numbers of a job.
func (j job) rows() (rows []figure.Row) {
	add := func(label string, v float64) { rows = append(rows, figure.Exact(label, v)) }
	add("ranges", j.ranges)
	add("million reads", j.gets()/1e6)
	add("KiB a segment", j.keys*hashBytes/j.segments()/1024)
	add("TB read", j.read()/1e12)
	add("MiB of memory in Gather", j.segments()*(doneBytes+indexBytes)/(1<<20))
	add("MiB through the engine", j.segments()*doneBytes/(1<<20))
	add("MiB of plan", j.ranges*planBytes/(1<<20))
	add("KiB of manifest", j.shards*entryBytes/1024)
	add("seconds to open the set", j.shards*shardOpen)
	add("% by which the largest shard exceeds the mean", 100*(j.largest()/(j.keys/j.shards)-1))
	for _, b := range builds {
		ranges, shards, limited := j.seconds(b.cpu, b.bits)
		hours := (ranges + limited) / 3600
		add(b.name+": thousand writes", j.puts(b.bits)/1e3)
		add(b.name+": TB written", j.written(b.bits)/1e12)
		add(b.name+": core hours", j.keys*(rangeCPU+b.cpu)/3600)
		add(b.name+": minutes for the ranges", ranges/60)
		add(b.name+": minutes for the shards, any number of reads", shards/60)
		add(b.name+": thousand reads a second then", j.shardsReads()/shards/1e3)
		add(b.name+": minutes for the shards, 5,500 reads a second", limited/60)
		add(b.name+": MiB of memory a shard", j.largest()*(b.memory+b.bits/8)/(1<<20))
		add(b.name+": dollars for workers", hours*workers*workerHour)
		add(b.name+": dollars for requests", j.gets()*getPrice+j.puts(b.bits)*putPrice)
	}
	return rows
}
