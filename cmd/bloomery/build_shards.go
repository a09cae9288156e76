package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// shardsFlag adds the flag for the number of shards of a set; 0 is auto.
func shardsFlag(c *cobra.Command, to *int, usage string) {
	parse(c, to, "shards", usage, func(flag, text string) (int, error) {
		n, err := strconv.Atoi(text)
		if text != "auto" && (err != nil || n < 1 || n > shard.Max) {
			return 0, fmt.Errorf("%s %q: want auto, or a number from 1 to %d", flag, text, shard.Max)
		}
		return n, nil
	})
}

// fewKeys is the number of keys per shard from which on headers and rates of a set are about as in one filter; see
// docs/measured/scale.md.
const fewKeys = 1000

// reportShards reports a sharded set that was just written, as bloomery info does.
func (a *app) reportShards(dir string, m *shard.Manifest, start time.Time) error {
	if m.Keys() == 0 {
		a.warn("there was no key in the input; the set holds nothing")
	}
	if n := m.Keys() / uint64(len(m.Shards)); n < fewKeys && len(m.Shards) > 1 && m.Keys() > 0 {
		a.warn("only %d keys a shard; files and headers take more than filters. "+
			"Better: --shards of at most %d for these keys", n, max(m.Keys()/fewKeys, 1))
	}

	r, err := a.describe(dir)
	if err != nil {
		return err
	}
	return a.reportBuilt(dir, "", fmt.Sprintf("%d shards, ", len(m.Shards)), r, start)
}

// fixedByLike are the flags for properties that --like takes from the older filter.
var fixedByLike = []string{
	"spec", "fpr", "bits-per-key", "bytes", "capacity", "counting", "value-bits", "effort", "budget", "seed", "hash",
	"needs", "for", "shards", "max-keys",
}

// buildLike builds a filter like another one: with its geometry, hash function and planned rate, and without a search.
func (a *app) buildLike(c *cobra.Command, f *buildFlags, paths []string) (err error) {
	if f.like == stdio {
		return errors.New("--like -: keys may come from standard input; name a file")
	}

	config, sharded := f.config, anySharded(f.like)
	var o []bloomery.Option
	if !sharded {
		o = append(o, bloomery.InMemory()) // -o may name the same file
	}
	if config.Like.Set, err = a.open(f.like, o...); err != nil {
		return err
	}
	defer config.Like.Set.Close()
	f.in.form = config.Like.Set.Hasher().Form()
	if f.in.trim && !f.in.form.Trim || f.in.lower && !f.in.form.Lower {
		return fmt.Errorf("--trim, --lower: %s was built without; a filter like it is asked for keys as they are", f.like)
	}
	if of, err := families.ByName(config.Like.Set.Spec().Family()); err == nil && !of.Can.Has(family.CanAdd) {
		a.note("note: %s: all bits of a %s filter change with its keys; the new one only has the same rate", f.like, of.Name)
	}
	if err := a.mayWrite(f.output, f.like); err != nil {
		return err
	}
	if sharded {
		config.Sharding.Dir = f.output
	}
	return f.adviseLike(a.build(c.Context(), f, paths, config))
}

// adviseLike adds a hint to the error if the filter of --like has exceptions and there is no list.
func (f *buildFlags) adviseLike(err error) error {
	var wrong *filter.ConfigError
	if !errors.As(err, &wrong) {
		return err
	}

	switch wrong.Field {
	case "allow":
		return fmt.Errorf("%s was built with --allow: give that list again, with --allow LIST", f.like)
	case "values":
		return cli.Advise(fmt.Errorf("--like %s, which has a value with each key: %w", f.like, err),
			"Nothing was written. bloomery get prints keys with their values.")
	}
	return err
}
