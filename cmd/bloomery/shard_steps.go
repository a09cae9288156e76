package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

type shardPlanFlags struct {
	buildFlags
	rangeBytes int64
	keys       uint64
}

func (a *app) shardPlanCommand() *cobra.Command {
	var f shardPlanFlags
	c := &cobra.Command{
		Use:   "plan -o DIR --shards N INPUT...",
		Short: "Divide the input of a sharded set into ranges",
		Long: `An INPUT is a file, a pattern, or a folder with a slash at its end. A compressed file, or one with
columns, is one range. Paths are stored absolute; an input that changes later makes its ranges fail. The same input and
flags give the same plan, and finished work is kept. A secret is not stored: give --secret-file at every step.`,
		Example: `  bloomery shard plan -o large.set --shards 16 --spec blocked large.txt
  bloomery shard plan -o keys.set --shards 64 --fpr 1% --range-bytes 64MiB \
    --spec partitioned "revoked-*.txt.gz"
  bloomery shard plan -o countries.set --shards 4 --spec ribbon \
    --value-bits 8 addresses.tsv`,
		RunE: func(c *cobra.Command, args []string) error { return a.shardPlan(c, &f, args) },
	}
	f.register(c, "ribbon")
	c.Flags().StringVarP(&f.output, "output", "o", "", "`DIR`: folder of the set")
	shardsFlag(c, &f.shards, "`N`: shards, about one per 4 million keys")
	parseDefault(c, &f.rangeBytes, "range-bytes", "32MiB", "`SIZE`: range of plain text, from 64KiB", parseRange)
	parse(c, &f.keys, "keys", "`N`: keys, about, for a plan without --spec", parseCount)
	c.MarkFlagsMutuallyExclusive("spec", "keys")
	_ = c.MarkFlagRequired("shards")
	_ = c.MarkFlagDirname("output")
	cli.NameFlags(c, "Filter flags (bloomery build --help)", filterFlags...)
	return c
}

func (a *app) shardPlan(c *cobra.Command, f *shardPlanFlags, args []string) (err error) {
	ctx := c.Context()
	if err := mayMakeFolder(f.output); err != nil {
		return err
	}

	switch {
	case len(args) == 0 || slices.Contains(args, stdio):
		return errors.New("name the files with the keys: standard input cannot be divided")
	}

	var config steps.Config
	if config.Build, err = a.buildConfig(c, &f.buildFlags); err != nil {
		return err
	}
	if config.Build.Sharding.Shards = f.shards; f.shards == 0 {
		return errors.New("--shards auto: nothing has counted the keys; give a number, one shard for each 4 million keys")
	}
	if config.Build.Spec == "" && !c.Flags().Changed("keys") {
		return errors.New("nothing has counted the keys: give --spec, or about how many there are with --keys")
	}

	config.Build.Keys, config.RangeBytes = f.keys, f.rangeBytes
	in, _, err := f.values.input(f.in, specAtBuild(config.Build))
	if err != nil {
		return err
	}

	in.keep = f.in.keep // the steps decide whether empty lines count
	o, err := in.options()
	if err != nil {
		return err
	}

	config.Keys = steps.KeysOf(o)
	for i, pattern := range args {
		if pattern == "" {
			return errors.New("an INPUT is empty; name files, patterns or folders that end in /")
		}
		path, err := filepath.Abs(pattern)
		if err != nil {
			return err
		}
		if args[i] = filepath.ToSlash(path); filepath.ToSlash(pattern)[len(pattern)-1] == '/' {
			args[i] += "/"
		}
	}

	p, err := steps.NewPlan(ctx, steps.Files(), args, config)
	if err != nil {
		return err
	}
	if err := p.Save(ctx, steps.Dir(f.output)); err != nil {
		return fmt.Errorf("%s: %w", f.output, err)
	}
	return a.answer(object{
		{"plan", p.ID()}, {"spec", p.Spec.String()}, {"range_count", len(p.Ranges)}, {"shard_count", p.Shards},
		{"files", len(p.Objects)}, {"input_bytes", p.Size()},
	}, "ranges: %d\nfiles: %d, %s\nshards: %d of %s\nplan: %s\n",
		len(p.Ranges), len(p.Objects), bytesText(uint64(p.Size())), p.Shards, p.Spec, p.ID())
}

func parseRange(flag, text string) (int64, error) {
	size, err := parseBytes(flag, text)
	if err == nil && size < steps.LeastRangeBytes {
		err = fmt.Errorf("%s %s: every range is a file from which every shard reads; want 64KiB or more", flag, text)
	}
	return int64(min(size, 1<<50)), err
}

func (a *app) shardRangeCommand() *cobra.Command {
	return a.stepCommand(&cobra.Command{
		Use:   "range DIR [RANGE...]",
		Short: "Hash the keys of ranges into run files",
		Long: `A range, counted from 0, takes about 100 MiB of memory; one runs per core, up to 8, or fewer with
--memory.`,
		Example: `  bloomery shard range large.set 0 1
  bloomery shard range large.set --every 0/20
  bloomery shard range large.set --all`,
	}, "range", "hashing", func(ctx context.Context, s step) error {
		done, err := s.RangeAll(ctx, steps.Files(), s.out, s.numbers, s.o)
		s.bar.End()
		if err != nil {
			return err
		}
		keys, ranges := uint64(0), []object{}
		for _, d := range done {
			keys += d.Keys
			ranges = append(ranges, object{{"range", d.Range}, {"keys", d.Keys}})
		}
		return a.report(object{{"plan", s.ID()}, {"keys", keys}, {"ranges", ranges}},
			"%s: %d ranges with %d keys are finished", s.dir, len(done), keys)
	})
}

func (a *app) shardBuildCommand() *cobra.Command {
	return a.stepCommand(&cobra.Command{
		Use:   "build DIR [SHARD...]",
		Short: "Build the filters of shards from the run files",
		Long: `Shards count from 0. One is built per core, and they share --memory. A damaged run file is removed: run
its range again.`,
		Example: `  bloomery shard build large.set 0 1
  bloomery shard build large.set --every 0/20
  bloomery shard build large.set --all`,
	}, "shard", "building shards", func(ctx context.Context, s step) error {
		var entries []shard.Entry
		_, err := s.Gather(ctx, s.out, nil, s.o)
		if err == nil {
			entries, err = s.BuildAll(ctx, s.out, s.numbers, s.o)
		}
		s.bar.End()
		var both *steps.ConflictError
		if errors.As(err, &both) { // read ranges of the input again to name the key
			bar := a.stepBar("naming the key", &s.o)
			err = s.NameConflict(ctx, steps.Files(), err, s.o)
			bar.End()
		}
		if err != nil {
			return adviseBuild(err, s.Spec, "Make another plan: bloomery shard plan. ")
		}
		shards := []object{}
		for _, e := range entries {
			shards = append(shards, entryOf(e))
		}
		return a.report(object{{"plan", s.ID()}, {"shards", shards}}, "%s: %d shards are finished", s.dir, len(entries))
	})
}

// step is one of the steps after the plan.
type step struct {
	*steps.Plan
	dir     string
	out     steps.Store
	numbers []int // of the ranges or shards to do
	o       steps.Options
	bar     *later
}

// stepCommand completes the command of a step. what is the unit of its numbers, range or shard; do ends the bar.
func (a *app) stepCommand(
	c *cobra.Command, what, verb string, do func(context.Context, step) error,
) *cobra.Command {
	var f stepFlags
	c.Args = cobra.MinimumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		s := step{dir: args[0], o: f.limit}
		if s.Plan, s.out, err = a.readPlan(c.Context(), args[0], f.plan); err != nil {
			return err
		}
		n := s.Shards
		if what == "range" {
			n = len(s.Ranges)
		}
		if s.numbers, err = f.numbers(args[1:], what, n); err != nil {
			return err
		}
		if s.o.Secret, err = a.secret(); err != nil {
			return err
		}
		s.bar = a.stepBar(verb, &s.o)
		return do(c.Context(), s)
	}
	f.registerPlan(c)
	c.Flags().BoolVar(&f.all, "all", false, "all "+what+"s")
	c.Flags().StringVar(&f.every, "every", "",
		"`K/N`: the "+what+"s K, K+N, K+2N and so on")
	c.MarkFlagsMutuallyExclusive("all", "every")
	memoryFlags(c, &f.limit.Memory, &f.limit.TempDir, noLimit)
	return c
}

// stepBar returns the progress bar of a step with these options.
func (a *app) stepBar(what string, o *steps.Options) *later {
	bar := a.later(what)
	o.Progress = bar.share
	return bar
}

// numbers returns the numbers of the ranges or shards to do, of n.
func (f *stepFlags) numbers(args []string, what string, n int) (all []int, err error) {
	first, step := 0, 1
	switch {
	case len(args) > 0 && (f.all || f.every != ""):
		return nil, fmt.Errorf("give numbers of %ss, --all or --every", what)
	case len(args) > 0:
		for _, arg := range args {
			i, err := strconv.Atoi(arg)
			if err != nil || i < 0 || i >= n {
				return nil, fmt.Errorf("%s %q: the plan has %d, counted from 0", what, arg, n)
			}
			all = append(all, i)
		}
		return all, nil
	case f.every != "":
		_, _ = fmt.Sscanf(f.every, "%d/%d", &first, &step)
		if first < 0 || first >= step || fmt.Sprintf("%d/%d", first, step) != f.every { // compare with the unread rest
			return nil, fmt.Errorf("--every %q: want K/N with K from 0 to N-1, such as 0/20", f.every)
		}
	case !f.all:
		return nil, fmt.Errorf("which %ss? Give their numbers, --all or --every K/N", what)
	}

	for i := first; i < n; i += step {
		all = append(all, i)
	}
	return all, nil
}
