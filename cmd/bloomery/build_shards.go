package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/shard"
)

// shardsFlag is the number of shards of a set: a number, or "auto".
type shardsFlag string

func (f *shardsFlag) register(c *cobra.Command, help string) {
	c.Flags().StringVar((*string)(f), "shards", "", help)
	complete(c, "shards", "auto")
}

// read returns the number of shards, 0 for auto.
func (f shardsFlag) read() (int, error) {
	if f == "auto" {
		return 0, nil
	}
	n, err := strconv.Atoi(string(f))
	if err != nil || n < 1 || n > shard.Max {
		return 0, fmt.Errorf("--shards %q: want auto, or a number from 1 to %d", string(f), shard.Max)
	}
	return n, nil
}

// buildShards builds a sharded set, writes it and reports.
func (a *app) buildShards(c *cobra.Command, f *buildFlags, paths []string) (err error) {
	start := time.Now()
	switch f.output {
	case "":
		return errors.New("name the folder to write: -o DIR")
	case stdio:
		return errors.New("-o -: a sharded set is a folder: -o DIR")
	}
	config, err := a.buildConfig(c, f)
	if err != nil {
		return err
	}
	if config.Shards, err = f.shards.read(); err != nil {
		return err
	}
	m, err := a.shardSet(c.Context(), f, paths, config)
	if err != nil {
		return err
	}
	return a.reportShards(f.output, m, start)
}

// shardSet builds the sharded set of all keys of the inputs. It counts the keys first if the number of shards or the
// filter depends on them and they can be read twice.
func (a *app) shardSet(
	ctx context.Context, f *buildFlags, paths []string, config bloomery.Config,
) (*shard.Manifest, error) {
	defer limitGarbage(&config)()
	failed := a.allow(ctx, f.allow, f.in, &config)
	var p *cli.Progress // of the pass that is running
	in, parse, err := f.values.input(f.in, specAtBuild(config))
	if err != nil {
		return nil, err
	}
	input, err := a.keys(in, paths, func(bytes int64) { p.Read.Store(bytes) })
	if err != nil {
		return nil, err
	}
	if input.Rewindable() && config.Like == nil && (config.Shards == 0 || config.Spec == "") {
		p = cli.NewProgress()
		a.show(p, "counting", input.Size())
		config.Keys, err = countKeys(ctx, input, parse)
		p.End()
		if err != nil {
			return nil, err
		}
	}
	var b *bloomery.ShardBuilder
	bar := a.later(func() string { return "building shards" })
	defer bar.End()
	config.Progress = bar.report
	if b, err = bloomery.NewShardBuilder(f.output, config); err != nil {
		return nil, err
	}
	defer b.Close()
	p = cli.NewProgress()
	a.show(p, "reading", input.Size())
	err = feed(ctx, input, p, parse, b.AddMany, b.AddManyValues)
	p.End()
	if err != nil {
		return nil, err
	}
	m, err := b.Build(ctx)
	err = a.nameConflict(ctx, input, parse, b.Hasher(), err)
	if err := cmp.Or(failed(), err); err != nil {
		return nil, a.listConflicts(f.allow, adviseBuild(err, b.Spec()))
	}
	return m, nil
}

// fewKeys is the number of keys a shard from which on headers and rates of a set are about those of one filter; see
// docs/scale.md.
const fewKeys = 1000

// reportShards reports a sharded set that was just written, as bloomery info does.
func (a *app) reportShards(dir string, m *shard.Manifest, start time.Time) error {
	if m.Keys() == 0 {
		fmt.Fprintln(a.stderr, "bloomery: warning: there was no key in the input; the set holds nothing")
	}
	if n := m.Keys() / uint64(len(m.Shards)); n < fewKeys && len(m.Shards) > 1 && m.Keys() > 0 {
		fmt.Fprintf(a.stderr, "bloomery: warning: only %d keys a shard; files and headers take more than filters. "+
			"Better: --shards of at most %d for these keys\n", n, max(m.Keys()/fewKeys, 1))
	}
	r, err := a.describe(dir)
	if err != nil {
		return err
	}
	a.warnRate(dir, r.info)
	a.warnAllow(r.info)
	err = a.report(r, "%s: %d shards, %d keys, %s, %.4g bits a key, %s, in %.2f s",
		dir, len(m.Shards), r.Keys, bytesText(r.FileBytes), r.BitsPerKey, rateText(r.info), time.Since(start).Seconds())
	if err != nil || a.json || a.quiet {
		return err
	}
	return a.printExceptions(r)
}
