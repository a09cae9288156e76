package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/beam/job"
	"github.com/bloomery/bloomery/internal/steps"
)

// The program starts itself as submitter, worker pool and generator, because bloomery-beam does not know the format
// made. The commands are
//
//	keys FROM TO    write keys
//	worker ADDRESS  serve a worker pool at HOST:PORT
//	build JOB       build a set; JOB is a request as JSON

// request is the input of the command build.
type request struct {
	Input, Output, Spec string
	Runner, Endpoint    string
	Pool                string // HOST:PORT of a worker pool, or "" for workers in the submitter
	Parallelism         int
}

// child runs one of these commands. It returns false if the arguments are not such a command.
func child(ctx context.Context, args []string) (is bool, err error) {
	switch {
	case len(args) == 3 && args[0] == "keys":
		return true, generate(args[1], args[2])
	case len(args) == 2 && args[0] == "worker":
		return true, serve(ctx, args[1])
	case len(args) == 2 && args[0] == "build":
		return true, build(ctx, args[1])
	}
	return false, nil
}

func generate(first, end string) error {
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(end)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	return errors.Join(lines(w, from, to), w.Flush())
}

// start prepares Beam like bloomery-beam.
func start() {
	job.Formats[madeName] = made{}
	job.LimitMemory()
	beam.Init()
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 1})))
}

func serve(ctx context.Context, address string) error {
	start()
	return job.ServeWorkers(ctx, address, func() {})
}

func build(ctx context.Context, text string) error {
	var r request
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	start()
	c := job.Config{
		Input: []string{r.Input}, Output: r.Output, Memory: memory, Runner: r.Runner, Endpoint: r.Endpoint,
		Set: steps.Config{
			Build:      bloomery.Config{Spec: r.Spec, Sharding: bloomery.Sharding{Shards: shards}},
			Keys:       steps.KeyFormat{Name: madeName},
			RangeBytes: rangeBytes,
		},
		Environment: job.Loopback,
		Warn:        func(text string) { fmt.Fprintln(os.Stderr, text) },
		Options:     map[string]string{"job_name": "bloomery-measure"},
	}
	if r.Parallelism > 0 {
		c.Options["parallelism"] = strconv.Itoa(r.Parallelism)
	}
	if r.Pool != "" {
		c.Environment, c.EnvironmentConfig = job.External, r.Pool
	}
	_, err := job.Run(ctx, c)
	return err
}
