package job

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// Run builds a sharded set: it plans, runs the steps with Beam, and writes the manifest. If ctx ends, Run cancels the
// job at the runner, ends its steps on all machines by a mark in the output, and returns when the job has ended, after
// about 30 seconds at most; no manifest is written. After an error, call Run again with the same Config: it keeps the
// finished steps. Errors of steps name the file and the line of the input.
//
// It calls beam.Init unless it was already called.
func Run(ctx context.Context, c Config) (*shard.Manifest, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if !beam.Initialized() {
		beam.Init()
	}

	for name, value := range c.Options {
		if err := flag.Set(name, value); err != nil {
			return nil, fmt.Errorf("option %s=%s of Beam: %w", name, value, err)
		}
	}

	s, hangUp, err := c.server(ctx) // before the plan, which may take long
	if err != nil {
		return nil, err
	}
	defer hangUp()
	c.showProgress(Progress{})
	t, p, out, err := c.plan(ctx)
	if err != nil {
		return nil, err
	}

	secrets.Store(t.Plan, c.Secret)
	defer secrets.Delete(t.Plan)
	defer forget(t)
	marked := markWhenDone(ctx, p, out, t.Attempt)
	stop := c.watchProgress(ctx, p, out)
	err = c.run(ctx, s, t)
	keys := stop()
	if err = errors.Join(err, marked()); err != nil {
		if ctx.Err() != nil && !waitForSteps(t) && c.Warn != nil {
			c.Warn("steps of the cancelled job still run in this process")
		}
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	c.showProgress(Progress{Ranges: t.Ranges, RangesDone: t.Ranges, Shards: t.Shards, ShardsDone: t.Shards, Keys: keys})
	return p.Finish(ctx, out, steps.Options{})
}

// server connects to the job server, or starts one in this process. Dataflow has none.
func (c *Config) server(ctx context.Context) (*server, func(), error) {
	switch {
	case c.Runner == Dataflow:
		return nil, func() {}, nil
	case c.Endpoint != "":
		s, hangUp, err := dialServer(ctx, c.Endpoint)
		if err == nil {
			s.lingers = c.Runner != Prism
		}
		return s, hangUp, err
	}

	s, err := startPrism()
	if err != nil {
		return nil, nil, err
	}
	if s.open != nil && c.Warn != nil {
		c.Warn(fmt.Sprintf("Prism listens on %s on all interfaces, without authentication, and could not be bound to "+
			"the loopback interface (%v): let a firewall block the port", s.endpoint, s.open))
	}
	return &server{client: s.client, at: s.endpoint}, func() {}, nil
}

// plan makes the plan and writes it to the output, where workers read it.
func (c *Config) plan(ctx context.Context) (t Task, p *steps.Plan, out steps.Store, err error) {
	url, patterns, err := c.input()
	if err != nil {
		return t, nil, nil, err
	}

	t = Task{Input: url, Output: c.Output, Memory: c.Memory, Attempt: newAttempt(), Program: cli.Version()}
	if c.remote() && !isURL(t.Output) {
		if t.Output, err = filepath.Abs(t.Output); err != nil {
			return t, nil, nil, err
		}
	}

	in, err := openSource(ctx, t.Input)
	if err != nil {
		return t, nil, nil, err
	}
	if out, err = openStore(ctx, t.Output); err != nil {
		return t, nil, nil, err
	}

	set := c.Set
	set.Formats, set.Build.Hashing.Secret = Formats, c.Secret
	if p, err = steps.NewPlan(ctx, in, patterns, set); err != nil {
		return t, nil, nil, err
	}
	t.Plan, t.Ranges, t.Shards = p.ID(), len(p.Ranges), p.Shards
	return t, p, out, p.Save(ctx, out)
}

// run runs the pipeline and returns when the job has ended.
func (c *Config) run(ctx context.Context, s *server, t Task) error {
	if c.Runner == Dataflow {
		return c.runDataflow(ctx, t)
	}

	env, stop, err := c.Environment.start(ctx, c.EnvironmentConfig)
	if err != nil {
		return err
	}
	defer stop()
	pipeline, err := marshal(t, env)
	if err != nil {
		return err
	}

	id, err := s.submit(ctx, pipeline, &runnerlib.JobOptions{
		Name: c.jobName(), Experiments: jobopts.GetExperiments(), Parallelism: c.parallelism(ctx, s, max(t.Ranges, t.Shards)),
	})
	if err != nil {
		return err
	}
	return s.wait(ctx, id)
}

// marshal returns the pipeline in the form for the runner.
func marshal(t Task, env *pipepb.Environment) (*pipepb.Pipeline, error) {
	edges, _, err := pipelineOf(t).Build()
	if err != nil {
		return nil, err
	}
	return graphx.Marshal(edges, &graphx.Options{
		Environment: env, PipelineResourceHints: jobopts.GetPipelineResourceHints(),
	})
}

// input returns the URL of the bucket of all inputs, or "" for files, and their patterns there.
func (c *Config) input() (url string, patterns []string, err error) {
	for i, in := range c.Input {
		u, pattern := splitInput(in)
		switch {
		case i > 0 && u != url:
			return "", nil, errors.New("all inputs must be files, or objects of one bucket")
		case u == "" && c.remote(): // a worker may have another current folder
			slash := filepath.ToSlash(pattern)
			if pattern, err = filepath.Abs(pattern); err != nil {
				return "", nil, err
			}
			if pattern = filepath.ToSlash(pattern); slash[len(slash)-1] == '/' {
				pattern += "/"
			}
		}
		url, patterns = u, append(patterns, pattern)
	}
	return url, patterns, nil
}
