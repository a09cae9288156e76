package job

import (
	"fmt"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/steps"
)

// Config describes what to build, where, and on which runner.
type Config struct {
	// Input are names or patterns of files, or of objects of one bucket: see steps.Match and buckets.Split.
	Input []string
	// Output is a folder or the URL of a bucket: see buckets.OpenStore. Input and output must be the same for all
	// workers.
	Output string
	// Set describes the set to build.
	Set steps.Config
	// Secret is the secret of a keyed hash, or nil. Only workers in this process read it from this field.
	Secret *filter.Secret
	// Memory limits a worker, in bytes. Default: DefaultMemory.
	Memory int64

	// Runner is one of Runners. Default: Prism.
	Runner string
	// Endpoint is the HOST:PORT of a job server. Default: for Prism, a server in this process.
	Endpoint string
	// Environment selects how workers are started, and EnvironmentConfig is its parameter. Default: Loopback.
	Environment       Environment
	EnvironmentConfig string
	// Parallelism is the number of tasks of a step that the runner may run at once, on Flink. Default: all free slots.
	Parallelism int
	// Options are set as flags of Beam, which are global: job_name, experiments, and Dataflow's own.
	Options map[string]string

	// Progress, if not nil, is called about once a second, never twice at the same time.
	Progress func(Progress)
	// Warn, if not nil, is called with warnings. With Progress, one warning is that no step has finished for a long
	// time.
	Warn func(string)
}

// DefaultMemory is the memory of a worker if Config.Memory is 0.
const DefaultMemory = 512 << 20

// minMemory is the least memory of a worker.
const minMemory = 64 << 20

// Runners.
const (
	Prism     = "prism"
	Universal = "universal"
	Flink     = "flink"
	Spark     = "spark"
	Dataflow  = "dataflow"
)

// Runners lists the runners. Dataflow has an interface of its own. All others use the portable job service of Beam, so
// that universal, flink and spark are the same.
func Runners() []string { return []string{Prism, Universal, Flink, Spark, Dataflow} }

// Progress counts the ranges and shards whose files are in the output, including the files of earlier starts of the
// job. While the plan is being made, all fields are 0. While the manifest is being written, all ranges and shards are
// done.
type Progress struct {
	Ranges, RangesDone int
	Shards, ShardsDone int
	Keys               int64 // keys in the ranges that are done, duplicates included
}

// withDefaults returns c with defaults, or an error that tells the user what to change.
func (c Config) withDefaults() (Config, error) {
	if c.Runner == "" {
		c.Runner = Prism
	}
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	if c.Environment == "" && c.Runner != Dataflow {
		c.Environment = Loopback
	}

	switch {
	case !slices.Contains(Runners(), c.Runner):
		return c, fmt.Errorf("runner %q: want %s", c.Runner, strings.Join(Runners(), ", "))
	case len(c.Input) == 0:
		return c, fmt.Errorf("no input")
	case c.Output == "":
		return c, fmt.Errorf("no output")
	case c.Memory < minMemory:
		return c, fmt.Errorf("%d bytes of memory are too few for a worker; want at least %d MiB", c.Memory, minMemory>>20)
	}
	if err := c.checkParallelism(); err != nil {
		return c, err
	}
	if c.Runner == Dataflow {
		return c, c.checkDataflow()
	}
	if c.Runner != Prism && c.Endpoint == "" {
		return c, fmt.Errorf("the runner %s needs the HOST:PORT of its Beam job server as endpoint", c.Runner)
	}
	if c.Endpoint != "" {
		if _, _, err := net.SplitHostPort(c.Endpoint); err != nil {
			return c, fmt.Errorf("endpoint %q: want HOST:PORT", c.Endpoint)
		}
	}
	return c, c.Environment.check(c.EnvironmentConfig)
}

// remote reports whether workers run in other processes.
func (c *Config) remote() bool { return c.Environment != Loopback }

const (
	jobNameOption = "job_name"
	maxName       = 100 // bytes of a job's name
)

// jobName returns the name of the job on the page of the runner, such as "bloomery blocked(fpr=0.01) 16 shards to set".
// Beam's job servers refuse other characters than ASCII, because names are in headers of requests.
func (c *Config) jobName() string {
	name := c.Options[jobNameOption]
	if name == "" {
		out := c.Output
		if abs, err := filepath.Abs(out); err == nil && !isURL(out) {
			out = abs
		}
		name = fmt.Sprintf("bloomery %s %d shards to %s", c.Set.Build.Spec, c.Set.Build.Sharding.Shards,
			path.Base(filepath.ToSlash(out)))
	}

	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" ._,:=()+@/-", r) {
			return r
		}
		return '-'
	}, name)
	return strings.TrimSpace(name[:min(len(name), maxName)])
}

// dataflowName is jobName in the form that Dataflow accepts: lower-case letters, digits and dashes, with a letter
// first.
func (c *Config) dataflowName() string {
	const most = 63
	words := strings.FieldsFunc(strings.ToLower(c.jobName()), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	name := strings.Join(words, "-")
	if name == "" || name[0] < 'a' {
		name = "bloomery-" + name
	}
	return strings.Trim(name[:min(len(name), most)], "-")
}
