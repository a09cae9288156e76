package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

// fixedByLike are the flags of build that contradict --like.
var fixedByLike = []string{
	"family", "fpr", "bits-per-key", "bytes", "capacity", "counting", "value-bits", "effort", "budget", "seed", "hash",
	"needs", "for", "shards",
}

// buildLike builds a filter like another one: with its geometry, hash function and chosen rate, and without a search.
func (a *app) buildLike(c *cobra.Command, f *buildFlags, paths []string) (err error) {
	start := time.Now()
	for _, name := range fixedByLike {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--like %s: the new filter has size, hash function, chosen rate and shards of that one; "+
				"leave out --%s", f.like, name)
		}
	}
	if f.like == stdio {
		return errors.New("--like -: keys may come from standard input; name a file")
	}
	config := bloomery.Config{TempDir: f.memory.dir}
	if config.Memory, err = f.memory.read(c); err != nil {
		return err
	}
	if config.MaxFPR, err = f.rate.read(c); err != nil {
		return err
	}
	if config.Shrink, err = f.shrink.read(c); err != nil {
		return err
	}
	sharded := anySharded(f.like)
	var o []bloomery.Option
	if !sharded {
		o = append(o, bloomery.InMemory()) // -o may name the same file
	}
	if config.Like, err = a.open(f.like, o...); err != nil {
		return err
	}
	defer config.Like.Close()
	if of, err := families.ByName(config.Like.Spec().Family()); err == nil && !of.Can.Has(filter.CanAdd) && !a.quiet {
		fmt.Fprintf(a.stderr, "bloomery: note: %s: all bits of a %s filter change with its keys; "+
			"the new one only has the same rate\n", f.like, of.Name)
	}
	if !sharded {
		if err := a.mayWrite(f.output); err != nil {
			return err
		}
		return f.adviseLike(a.build(c.Context(), f, paths, config))
	}
	if err := mayReplaceFolder(f.output); err != nil {
		return err
	}
	m, err := a.shardSet(c.Context(), f, paths, config)
	if err != nil {
		return f.adviseLike(err)
	}
	return a.reportShards(f.output, m, start)
}

// adviseLike says what to do if the filter of --like has exceptions and there is no list.
func (f *buildFlags) adviseLike(err error) error {
	var wrong *filter.ConfigError
	switch errors.As(err, &wrong); {
	case wrong == nil:
	case wrong.Field == "allow":
		return &advised{fmt.Errorf("--like %s: %w", f.like, err), "Give the list, too, with --allow LIST."}
	case wrong.Field == "values":
		return &advised{fmt.Errorf("--like %s, which has a value with each key: %w", f.like, err),
			"Nothing was written. bloomery get prints keys with their values."}
	}
	return err
}

// warnRoom prints a warning if a filter like another one has more keys than that was sized for.
func (a *app) warnRoom(f *buildFlags, r report) {
	if f.like != "" && r.Capacity > 0 && r.Keys > r.Capacity {
		const text = "bloomery: warning: %s: %d keys, and the size of %s is for %d; soon they will have no room\n" +
			"  Build a new one with more room: --capacity N.\n"
		fmt.Fprintf(a.stderr, text, pathName(f.output), r.Keys, f.like, r.Capacity)
	}
}
