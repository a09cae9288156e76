package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/drift"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/stat"
)

type optimizeFlags struct {
	in     inputFlags
	effort effortFlags
	config bloomery.JobConfig // limits
	keys   []string
	output string
	force  bool
}

func (a *app) optimizeCommand() *cobra.Command {
	var f optimizeFlags
	c := &cobra.Command{
		Use:   "optimize FILE --keys KEYS",
		Short: "Continue the search of a filter, after its keys changed",
		Long: `A longer search lowers the rate; the size stays. The filter then contains the keys of --keys, and no
others. Lists without half of the old keys need --shrink, lists of mostly new keys --force.`,
		Example: `  bloomery build -o list.bloom --spec "partitioned(later=100)" blocklist.txt
  bloomery add list.bloom new-entries.txt
  bloomery optimize list.bloom --keys blocklist.txt --keys new-entries.txt
  bloomery optimize list.bloom --keys blocklist.txt --keys new-entries.txt \
    --budget 5m -o better.bloom`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.optimize(c, &f, args[0]) },
	}
	f.in.register(c)
	f.effort.register(c)
	memoryFlags(c, &f.config.Building.Memory, &f.config.Building.TempDir, noLimit)
	maxFPRFlag(c, &f.config.Limits.FPR)
	c.Flags().StringArrayVar(&f.keys, "keys", nil, "`LIST`: keys, or -; repeatable")
	c.Flags().StringVarP(&f.output, "output", "o", "", "`FILE`: file to write instead")
	c.Flags().BoolVar(&f.force, "force", false, "accept lists of other keys")
	shrinkFlag(c, &f.config.Like.Shrink, "50%")
	_ = c.MarkFlagFilename("keys")
	return c
}

func (a *app) optimize(c *cobra.Command, f *optimizeFlags, path string) error {
	if len(f.keys) == 0 {
		return errors.New("name the lists of all keys: --keys KEYS")
	}

	inPlace := f.output == "" || f.output == path
	if !inPlace {
		if err := a.mayWrite(f.output, path); err != nil {
			return err
		}
	}
	if err := f.effort.check(c); err != nil {
		return err
	}
	if f.force {
		f.config.Like.Shrink = 1
	}

	l, err := a.lock(c.Context(), path)
	if err != nil {
		return err
	}
	defer l.Close()
	before := reportOf(l.Set, l.FileInfo())
	better, read, unknown, err := a.search(c.Context(), l.Set, f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if inPlace {
		f.output = path
		l.Set = better
		err = l.Commit(c.Context())
	} else {
		err = a.save(c.Context(), better, f.output)
	}
	if err != nil {
		return err
	}

	after, err := written(better, f.output)
	if err != nil {
		return err
	}

	a.warnRate(f.output, after.Info)
	return a.report(object{
		{"before", before}, {"after", after}, {"lines_read", read},
		{"lines_new", unknown}, // lines with a key that the old filter did not contain
	}, "%s: %d keys (before %d; %d of %d lines were new to it), false-positive rate %s (before %s)",
		f.output, after.Keys, before.Keys, unknown, read,
		stat.Percent(after.FPRPosterior), stat.Percent(before.FPRPosterior))
}

// search continues the search of the filter with the keys of the lists. It returns the new filter, the number of keys
// in the lists, and how many of them the old filter did not contain.
func (a *app) search(
	ctx context.Context, set *bloomery.Set, f *optimizeFlags,
) (better *bloomery.Set, all, fresh uint64, err error) {
	bar := a.later("searching")
	defer bar.End()
	f.config.Building.Progress = bar.report
	f.config.Effort = f.effort.Effort
	b, err := set.Optimizer(f.config)
	if err != nil {
		return nil, 0, 0, err
	}
	defer b.Close()
	hash := hashing(set.Hasher())
	f.in.form = set.Hasher().Form()
	var read, unknown atomic.Uint64
	err = a.pass(ctx, f.in, f.keys, "reading", func(batch *keyio.Batch) error {
		_ = hash(batch) // it never fails
		n := uint64(0)
		for _, h := range batch.Hashes {
			if !set.ContainsHash(h) {
				n++
			}
		}
		read.Add(uint64(len(batch.Hashes)))
		unknown.Add(n)
		return b.AddMany(batch.Keys)
	}, nil)
	if err != nil {
		return nil, 0, 0, err
	}

	all, fresh = read.Load(), unknown.Load()
	lists := strings.Join(f.keys, ", ")
	if all == 0 {
		return nil, 0, 0, fmt.Errorf("there is no key in %s; the filter stays as it is", lists)
	}
	if !f.force && fresh > all/2 {
		return nil, 0, 0, fmt.Errorf("most keys of %s were not in the filter, which stays as it is; "+
			"if these are the right lists, add --force", lists)
	}

	better, err = b.Commit(ctx)
	var lost *drift.ShrinkError
	if errors.As(err, &lost) {
		err = fmt.Errorf("%s: %d keys instead of %d, and the filter would forget all others; it stays as it is: %w",
			lists, lost.After, lost.Before, err)
	}
	return better, all, fresh, err
}
