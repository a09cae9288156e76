package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/shard"
)

// shardPlanFlags are the flags of shard plan.
type shardPlanFlags struct {
	buildFlags
	size string // of a range
	keys string
}

func (a *app) shardPlanCommand() *cobra.Command {
	var f shardPlanFlags
	c := &cobra.Command{
		Use:   "plan -o DIR --shards N INPUT...",
		Short: "Divide the input of a sharded set into ranges",
		Long: `Divide the input of a sharded set into ranges and write the plan to the folder DIR. It prints the number of
ranges. INPUT is a file, a pattern such as "keys/*.txt.gz" (in quotes, if there are many files), or a folder with a
slash at its end, for all files in it. A range is 32 MiB of plain text; a compressed file, and one of CSV or TSV, is one
range; small files share one. Flags for the filter are those of bloomery build. Without --family, --keys says how many
keys there are about. With --family ribbon --value-bits V each key comes with a value, as for bloomery build.

Paths are stored absolute, with sizes and times of modification: if an input changes, its ranges fail. The same input
and flags give the same plan, and what is finished of it stays. No secret is stored: give --secret-file at every step.`,
		Example: `  bloomery shard plan -o large.set --shards 16 --family blocked large.txt
  bloomery shard plan -o keys.set --shards 64 --family partitioned --bits-per-key 8 --range 64MiB "revoked-*.txt.gz"
  bloomery shard plan -o countries.set --shards 4 --family ribbon --value-bits 8 addresses.tsv`,
		RunE: func(c *cobra.Command, args []string) error { return a.shardPlan(c, &f, args) },
	}
	f.in.register(c)
	f.values.register(c)
	f.buildFlags.size.register(c)
	f.rate.register(c)
	c.Flags().StringVarP(&f.output, "output", "o", "", "folder of the set")
	c.Flags().StringVar(&f.family, "family", "", "family of the filter, or a spec (default: what --needs asks for)")
	f.effort.register(c)
	f.form.register(c)
	f.hash.register(c)
	f.wishes.register(c)
	c.Flags().StringVar((*string)(&f.shards), "shards", "", "number of shards; 4 million keys a shard are a good size")
	c.Flags().StringVar(&f.size, "range", "32MiB", "size of a range of plain text, at least 64KiB")
	c.Flags().StringVar(&f.keys, "keys", "", "about how many keys there are, for a build without --family")
	c.MarkFlagsMutuallyExclusive("family", "needs")
	c.MarkFlagsMutuallyExclusive("family", "for")
	_ = c.MarkFlagRequired("shards")
	_ = c.MarkFlagDirname("output")
	complete(c, "family", families.Names()...)
	return c
}

// shardPlanned is the report of shard plan.
type shardPlanned struct {
	Plan   string `json:"plan"`
	Spec   string `json:"spec"` // of each shard
	Ranges int    `json:"ranges"`
	Shards int    `json:"shards"`
	Files  int    `json:"files"`
	Input  int64  `json:"input_bytes"`
}

func (a *app) shardPlan(c *cobra.Command, f *shardPlanFlags, args []string) (err error) {
	ctx := c.Context()
	switch {
	case f.output == "" || f.output == stdio:
		return errors.New("name the folder of the set: -o DIR")
	case len(args) == 0 || slices.Contains(args, stdio):
		return errors.New("name the files with the keys: standard input cannot be divided")
	}
	var config distribute.Config
	if config.Build, err = a.buildConfig(c, &f.buildFlags); err != nil {
		return err
	}
	if config.Build.Shards, err = f.shards.read(); err != nil {
		return err
	}
	if config.Build.Shards == 0 {
		return errors.New("--shards auto: nothing has counted the keys; give a number, one shard for each 4 million keys")
	}
	if c.Flags().Changed("keys") {
		if config.Build.Keys, err = parseCount("--keys", f.keys); err != nil {
			return err
		}
	} else if config.Build.Spec == "" {
		return errors.New("nothing has counted the keys: give --family, or about how many there are with --keys")
	}
	size, err := parseBytes("--range", f.size)
	if err != nil {
		return err
	}
	if size < distribute.LeastRangeBytes {
		return fmt.Errorf("--range %s: every range is a file from which every shard reads; want 64KiB or more", f.size)
	}
	config.RangeBytes = int64(min(size, 1<<50))
	in, parse, err := f.values.input(f.in, specAtBuild(config.Build))
	if err != nil {
		return err
	}
	in.keep = f.in.keep // the steps know when empty lines count
	o, err := in.options()
	if err != nil {
		return err
	}
	config.Keys = distribute.KeysOf(o)
	if parse != nil && !in.columns() {
		config.Keys.Separator = string(f.values.separator)
	}
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
	p, err := distribute.NewPlan(ctx, distribute.Files(), args, config)
	if err != nil {
		return err
	}
	if err := p.Save(ctx, distribute.Dir(f.output)); err != nil {
		return fmt.Errorf("%s: %w", f.output, err)
	}
	r := shardPlanned{p.ID(), p.Spec.String(), len(p.Ranges), p.Shards, len(p.Objects), p.Size()}
	if a.json {
		return a.printJSON(r)
	}
	_, err = fmt.Fprintf(a.stdout, "ranges: %d\nfiles: %d, %s\nshards: %d of %s\nplan: %s\n",
		r.Ranges, r.Files, bytesText(uint64(r.Input)), r.Shards, r.Spec, r.Plan)
	return err
}

// shardRanges is the report of shard range.
type shardRanges struct {
	Plan   string       `json:"plan"`
	Keys   uint64       `json:"keys"`
	Ranges []shardRange `json:"ranges"`
}

type shardRange struct {
	Range int    `json:"range"`
	Keys  uint64 `json:"keys"`
}

func (a *app) shardRangeCommand() *cobra.Command {
	var f stepFlags
	c := &cobra.Command{
		Use:   "range DIR [RANGE...]",
		Short: "Hash the keys of ranges into run files",
		Long: `Hash the keys of ranges, counted from 0, and write a run file for each. Finished run files are kept. A range
takes about 100 MiB of memory; as many as there are cores run at the same time, at most 8, and fewer with --memory.`,
		Example: `  bloomery shard range large.set 0 1
  bloomery shard range large.set --every 0/20
  bloomery shard range large.set --all`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			p, out, err := a.readPlan(ctx, args[0], f.plan)
			if err != nil {
				return err
			}
			numbers, err := f.numbers(args[1:], "range", len(p.Ranges))
			if err != nil {
				return err
			}
			o, bar, err := a.stepOptions(c, &f, "hashing")
			if err != nil {
				return err
			}
			done, err := p.RangeAll(ctx, distribute.Files(), out, numbers, o)
			bar.End()
			if err != nil {
				return err
			}
			r := shardRanges{Plan: p.ID(), Ranges: []shardRange{}}
			for _, d := range done {
				r.Keys += d.Keys
				r.Ranges = append(r.Ranges, shardRange{d.Range, d.Keys})
			}
			return a.report(r, "%s: %d ranges with %d keys are finished", args[0], len(done), r.Keys)
		},
	}
	f.register(c, "ranges")
	return c
}

// shardBuilt is the report of shard build.
type shardBuilt struct {
	Plan   string       `json:"plan"`
	Shards []shardEntry `json:"shards"`
}

func (a *app) shardBuildCommand() *cobra.Command {
	var f stepFlags
	c := &cobra.Command{
		Use:   "build DIR [SHARD...]",
		Short: "Build the filters of shards from the run files",
		Long: `Build the filters of shards, counted from 0, from the run files of all ranges, which must be finished. They
are written to the working folder of the plan, from where shard finish moves them. Finished shards are kept after their
checksums were compared. As many as there are cores are built at the same time, and share --memory. If a run file is
damaged, it is removed, and its range must be run again. If a key has two values, the input is read again to name the
key.`,
		Example: `  bloomery shard build large.set 0 1
  bloomery shard build large.set --every 0/20
  bloomery shard build large.set --all`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			p, out, err := a.readPlan(ctx, args[0], f.plan)
			if err != nil {
				return err
			}
			numbers, err := f.numbers(args[1:], "shard", p.Shards)
			if err != nil {
				return err
			}
			o, bar, err := a.stepOptions(c, &f, "building shards")
			if err != nil {
				return err
			}
			var entries []shard.Entry
			if _, err = p.Gather(ctx, out, nil, o); err == nil {
				entries, err = p.BuildAll(ctx, out, numbers, o)
			}
			bar.End()
			if err != nil {
				return adviseBuild(a.nameShardConflict(c, &f, p, err), p.Spec)
			}
			r := shardBuilt{Plan: p.ID(), Shards: []shardEntry{}}
			for _, e := range entries {
				r.Shards = append(r.Shards, entryOf(e))
			}
			return a.report(r, "%s: %d shards are finished", args[0], len(entries))
		},
	}
	f.register(c, "shards")
	return c
}

// nameShardConflict names the key of an error about a key with two values. It reads ranges of the input again.
func (a *app) nameShardConflict(c *cobra.Command, f *stepFlags, p *distribute.Plan, err error) error {
	var both *distribute.ConflictError
	if !errors.As(err, &both) {
		return err
	}
	o, bar, failed := a.stepOptions(c, f, "naming the key")
	if failed != nil {
		return err
	}
	defer bar.End()
	return p.NameConflict(c.Context(), distribute.Files(), err, o)
}
