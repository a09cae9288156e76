package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/beam/job"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// buildFlags are the flags of a build.
type buildFlags struct {
	config     job.Config
	keys       steps.KeyFormat
	spec       string
	shards     int
	seed       uint64
	secretFile string
	memory     string
	rangeBytes string
	options    []string
}

const buildHelp = `Build a sharded set from the keys in files or objects, on many machines, with Apache Beam. The files
are the same as from "bloomery build --shards", byte for byte: a folder, or a prefix of a bucket, that bloomery opens.

Without --runner the job runs in this process. An interrupted or failed job goes on when the command is repeated:
what is finished is kept and checked. No set appears before all shards are there.

A spec with values, such as "ribbon(value_bits=8)", takes a value with each key: a whole number in --value-column, or in
a line after the key and --separator.

A secret never leaves this process: workers in other processes read it from the file that the environment variable
` + job.SecretFileVariable + ` names.`

func (a *app) buildCommand() *cobra.Command {
	f := buildFlags{config: job.Config{Environment: job.Loopback}}
	c := &cobra.Command{
		Use:   "bloomery-beam --input PATTERN --output DIR --spec SPEC --shards N",
		Short: "Build a sharded filter on many machines with Apache Beam",
		Long:  buildHelp,
		Example: `  bloomery-beam --input 'keys/*.txt.gz' --output set --spec 'blocked(fpr=0.01)' --shards 16
  bloomery-beam --input users.csv --input-format csv --column email --output set --spec fuse --shards 4
  bloomery-beam --input addresses.csv --input-format csv --column ip --value-column country --output set \
    --spec 'ribbon(r=8,value_bits=8)' --shards 4
  bloomery-beam --input 'events/*.parquet' --input-format parquet --column user.id --output set --spec fuse --shards 64
  bloomery-beam --input 's3://data/keys/*.zst' --output s3://data/set --spec 'partitioned(fpr=0.001)' --shards 256 \
    --runner flink --endpoint jobserver:8099 --environment external --environment-config localhost:50000
  bloomery-beam worker --port 50000`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			f.config.Input = append(f.config.Input, args...)
			if err := f.readConfig(c); err != nil {
				return err
			}
			return a.runBuild(c.Context(), &f)
		},
	}
	f.register(c)
	return c
}

func (f *buildFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVarP(&f.config.Input, "input", "i", nil,
		"file, object or `pattern`; a name that ends in / stands for all below it; may be repeated")
	flags.StringVarP(&f.config.Output, "output", "o", "", "`folder` or URL of a bucket with a prefix")
	flags.StringVar(&f.spec, "spec", "", "`spec` of the filters, such as fuse or \"partitioned(fpr=0.001)\"")
	flags.IntVar(&f.shards, "shards", 0, "number of shards")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the hash function")
	flags.StringVar(&f.secretFile, "secret-file", "", "`file` with the secret of a keyed hash, 32 hex digits")
	flags.StringVar(&f.memory, "memory", "512MiB", "`bytes` that a worker may use")
	flags.StringVar(&f.rangeBytes, "range-bytes", "32MiB", "`bytes` of a range of plain text")

	flags.StringVar(&f.keys.Name, "input-format", "lines",
		"lines, fields, csv, tsv, jsonl, null or parquet; gzip, zstd and bzip2 are recognised by content")
	flags.StringVar(&f.keys.Column, "column", "",
		"`name` in the header row, or number from 1 (default the first); jsonl, parquet: path of the column")
	flags.BoolVar(&f.keys.Header, "header", false, "the first row is a header, although the column is a number")
	flags.StringVar(&f.keys.Delimiter, "delimiter", "",
		"`character` between columns of csv (default \",\") or fields (blanks)")
	flags.StringVar(&f.keys.Comments, "comments", "", "what a comment begins with, such as '#'")
	flags.BoolVar(&f.keys.KeepEmpty, "keep-empty", false, "empty lines and values are keys too")
	flags.StringVar(&f.keys.ValueColumn, "value-column", "",
		"csv, tsv: `name` or number of the column with the values (default the second); jsonl, parquet: its path")
	flags.StringVar(&f.keys.Separator, "separator", "", "`byte` between a key and its value in a line (default a tab)")
	flags.IntVar(&f.keys.MaxKey, "max-key-bytes", 0, "longest key in `bytes` (default 1 MiB)")

	flags.StringVar(&f.config.Runner, "runner", job.Prism, strings.Join(job.Runners(), ", "))
	flags.StringVar(&f.config.Endpoint, "endpoint", "",
		"`HOST:PORT` of a Beam job server; without it, prism runs in this process")
	flags.Var((*environment)(&f.config.Environment), "environment",
		strings.Join(job.Environments(), ", ")+": where workers come from")
	flags.StringVar(&f.config.EnvironmentConfig, "environment-config", "",
		"`text`: HOST:PORT of a worker pool (external), image (docker), path of this program (process)")
	flags.IntVar(&f.config.Parallelism, "parallelism", 0,
		"flink: `number` of tasks at once (default all free slots); spark takes all cores of its executors")
	flags.StringArrayVar(&f.options, "beam", nil,
		"`name=value`: option of Beam, such as experiments=NAME; may be repeated")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "format" {
			name = "input-format"
		}
		return pflag.NormalizedName(name)
	})
	complete := func(flag string, words ...string) {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	complete("runner", job.Runners()...)
	complete("environment", job.Environments()...)
	complete("input-format", "lines", "fields", "csv", "tsv", "jsonl", "null", "parquet")
}

// environment is a job.Environment as a flag.
type environment job.Environment

func (e *environment) String() string     { return string(*e) }
func (e *environment) Set(s string) error { *e = environment(strings.ToLower(s)); return nil }
func (e *environment) Type() string       { return "name" }

// readConfig sets the job.Config.
func (f *buildFlags) readConfig(c *cobra.Command) (err error) {
	if err := cli.NoStdout("--output", "a sharded set is a folder", f.config.Output); err != nil {
		return err
	}

	switch {
	case len(f.config.Input) == 0:
		return errors.New("--input: name files or objects, such as --input 'keys/*.txt'")
	case f.config.Output == "":
		return errors.New("--output: name a folder or the URL of a bucket")
	case f.spec == "":
		return errors.New("--spec: say which filter, such as --spec \"blocked(fpr=0.01)\"; see bloomery build --help")
	case f.shards < 1:
		return errors.New("--shards: want 1 or more; a shard of 4 million keys is a good size")
	case f.secretFile != "" && c.Flags().Changed("seed"):
		return errors.New("--seed: a keyed hash has a secret in place of a seed; leave one out")
	}

	f.config.Set = steps.Config{
		Build: bloomery.Config{Spec: f.spec, Sharding: bloomery.Sharding{Shards: f.shards},
			Hashing: bloomery.Hashing{Seed: f.seed}}, Keys: f.keys,
	}
	if f.config.Memory, err = parseBytes("memory", f.memory); err != nil {
		return err
	}
	if f.config.Set.RangeBytes, err = parseBytes("range-bytes", f.rangeBytes); err != nil {
		return err
	}
	if f.secretFile != "" {
		if f.config.Secret, err = job.ReadSecret(c.Context(), f.secretFile); err != nil {
			return err
		}
	}

	f.config.Options = map[string]string{}
	for _, o := range f.options {
		name, value, ok := strings.Cut(o, "=")
		if !ok {
			return fmt.Errorf("--beam %q: want name=value, such as experiments=NAME", o)
		}
		f.config.Options[name] = value
	}
	return nil
}

// runBuild runs the job and reports.
func (a *app) runBuild(ctx context.Context, f *buildFlags) error {
	start := time.Now()
	a.setUpLogs()
	job.LimitMemory()
	bar := a.newBar()
	f.config.Warn = func(text string) {
		bar.clearLine()
		a.printWarning(text)
	}

	f.config.Progress = bar.showProgress
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		bar.endLine()
		a.note("cancelling the job: its steps end within seconds, on all workers; interrupt again to leave without waiting")
	})
	m, err := job.Run(ctx, f.config)
	if !stop() {
		<-told
	}

	bar.endLine()
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w; what is finished is kept: repeat the command to go on", err)
	case err != nil:
		return err
	}
	return a.report(f, m, time.Since(start))
}

// report prints what was built.
func (a *app) report(f *buildFlags, m *shard.Manifest, took time.Duration) error {
	if a.json {
		prior, posterior := m.FPR()
		return cli.WriteJSON(a.stdout, map[string]any{
			"output": f.config.Output, "spec": m.Spec, "plan": m.ID(), "shard_count": len(m.Shards), "keys": m.Keys(),
			"bytes": m.Bytes(), "fpr_prior": prior, "fpr_posterior": posterior, "seconds": took.Seconds(),
		})
	}
	if a.quiet {
		return nil
	}

	_, posterior := m.FPR()
	fmt.Fprintf(a.stderr, "%s: %d keys, %d shards, %s, %.4g bits per key, false-positive rate %.3g%%, in %.2f s\n",
		f.config.Output, m.Keys(), len(m.Shards), bytesText(m.Bytes()), 8*float64(m.Bytes())/float64(max(m.Keys(), 1)),
		100*posterior, took.Seconds())
	return nil // the work is done, whatever becomes of the report
}

// setUpLogs sets where the logs of Beam and of runners in this process go.
func (a *app) setUpLogs() {
	beam.Init()                  // also sets them
	level := slog.LevelError + 1 // errors are also returned
	if a.verbose {
		level = slog.LevelInfo
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level})))
}

// units of sizes: k, M and G are powers of 1000; Ki, Mi and Gi are powers of 1024.
var units = map[string]float64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}

// parseBytes reads a size above 0, such as 65536, 64KiB or 10MB.
func parseBytes(flag, text string) (int64, error) {
	plain := strings.TrimSuffix(strings.TrimSpace(text), "B")
	number := strings.TrimRight(plain, "kKMGi")
	v, err := strconv.ParseFloat(number, 64)
	unit, known := units[plain[len(number):]]
	if v *= unit; err != nil || !known || !(v >= 1 && v < 1<<60) || v != math.Trunc(v) {
		return 0, fmt.Errorf("--%s %q: want a size above 0, such as 512MiB or 2GB", flag, text)
	}
	return int64(v), nil
}

// bytesText formats a number of bytes.
func bytesText(n uint64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if float64(n) >= 0.9995*u.size {
			return fmt.Sprintf("%.3g %s", float64(n)/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
