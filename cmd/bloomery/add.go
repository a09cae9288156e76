package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/keyio"
)

func (a *app) addCommand() *cobra.Command {
	var in inputFlags
	var values valueFlags
	var most float64
	c := &cobra.Command{
		Use:   "add FILE [INPUT...]",
		Short: "Add keys to a filter file",
		Long: `Every key raises the false-positive rate; see bloomery help rates. A full filter, or a change by another
program, is an error, and nothing is added. Two adds to the same file wait for each other.`,
		Example: `  bloomery build -o blocked.bloom --capacity 1M blocklist.txt
  bloomery add blocked.bloom new-entries.txt
  bloomery add --max-fpr 1% blocked.bloom allowed.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.change(c.Context(), args[0], most, func(set *bloomery.Set) error {
				return a.add(c.Context(), in, values, set, args[1:])
			})
		},
	}
	in.register(c)
	withoutKeyFlag(c)
	values.register(c)
	maxFPRFlag(c, &most)
	return c
}

// change locks the file at path and adds keys to its set. It then writes the set back and reports, unless its rate
// exceeds most.
func (a *app) change(ctx context.Context, path string, most float64, add func(*bloomery.Set) error) error {
	l, err := a.lock(ctx, path)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := add(l.Set); err != nil {
		return adviseAdd(err, path, l.Spec())
	}
	if err := checkRate(l.Set, most); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := l.Commit(ctx); err != nil {
		return err
	}
	return a.printKeys(l.Set, path)
}

func (a *app) add(
	ctx context.Context, in inputFlags, values valueFlags, set *bloomery.Set, inputs []string,
) error {
	f, err := families.ByName(set.Spec().Family())
	if err != nil || !f.Can.Has(family.CanAdd) {
		return families.Lacks(set.Spec(), family.CanAdd)
	}

	in.form = set.Hasher().Form()
	in, cut, err := values.input(in, set.Spec())
	if err != nil {
		return err
	}

	switch {
	case f.Can.Has(family.CanRawKeys) || cut != nil:
		in.cut = cut
		return a.pass(ctx, in, inputs, "adding", nil, func(b *keyio.Batch) error { return addBatch(set, b) })
	case set.Manifest() != nil:
		return a.addShards(ctx, in, set, inputs)
	}

	// One goroutine adds; several goroutines hash.
	return a.pass(ctx, in, inputs, "adding", hashing(set.Hasher()), func(b *keyio.Batch) error {
		return bloomery.Keyed[filter.Hash](set).AddMany(b.Hashes)
	})
}

// addBatch adds the keys of a batch, with their values if it has values.
func addBatch(set *bloomery.Set, b *keyio.Batch) error {
	if len(b.Values) == 0 {
		return bloomery.Keyed[[]byte](set).AddMany(b.Keys)
	}
	for i, key := range b.Keys {
		if err := set.AddValue(key, b.Values[i]); err != nil {
			return err
		}
	}
	return nil
}

// addShards adds the keys of the inputs to a sharded set, shard by shard.
func (a *app) addShards(ctx context.Context, in inputFlags, set *bloomery.Set, inputs []string) error {
	bar := a.later("adding")
	defer bar.End()
	all, err := set.Addition(bloomery.JobConfig{Building: bloomery.Building{Progress: bar.report}})
	if err != nil {
		return err
	}
	defer all.Close()
	err = a.pass(ctx, in, inputs, "reading", func(b *keyio.Batch) error { return all.AddMany(b.Keys) }, nil)
	if err != nil {
		return err
	}
	return all.Commit(ctx)
}

// hashing returns a function that fills the Hashes of batches.
func hashing(h filter.Hasher) func(*keyio.Batch) error {
	return func(b *keyio.Batch) error {
		for _, k := range b.Keys {
			b.Hashes = append(b.Hashes, h.Sum(k))
		}
		return nil
	}
}

func (a *app) putCommand() *cobra.Command {
	var null bool
	var most float64 // rate
	c := &cobra.Command{
		Use:   "put FILE [INPUT...]",
		Short: "Set the values of keys in a filter file",
		Long:  `Lines such as "yopmail.com<TAB>3" have a key and its value. The keys must be in the filter already.`,
		Example: `  bloomery build -o routes.bloom --spec rankindexed --value-bits 8 \
    --capacity 1M /dev/null
  bloomery add routes.bloom routes.tsv
  bloomery put routes.bloom changes.tsv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.change(c.Context(), args[0], most, func(set *bloomery.Set) error {
				return a.put(c.Context(), set, null, args[0], args[1:])
			})
		},
	}
	withoutKeyFlag(c)
	maxFPRFlag(c, &most)
	c.Flags().BoolVarP(&null, "null", "0", false, "lines end in a NUL byte, so that keys may contain line feeds")
	return c
}

// put sets the values of the keys in the inputs, in the set of the file at path.
func (a *app) put(ctx context.Context, set *bloomery.Set, null bool, path string, inputs []string) error {
	bits, err := valueBits(set)
	if err != nil {
		return err
	}

	// Empty lines count for the line number in an error.
	lines := inputFlags{format: "lines", keep: true, null: null, form: set.Hasher().Form()}
	lines.cut = keyio.Values{Bits: bits, Trim: lines.trims()}.Read
	return a.pass(ctx, lines, inputs, "putting", nil, func(b *keyio.Batch) error {
		for i, key := range b.Keys {
			err := set.Put(key, b.Values[i])
			if errors.Is(err, filter.ErrNotFound) {
				return cli.Advise(fmt.Errorf("%s: a key is not in %s: %w", b.Input, path, err),
					"Nothing was written. bloomery add adds keys, each with its value.")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// checkRate returns an error if the rate of a set exceeds most. If most is 0, it does not read the filter.
func checkRate(set *bloomery.Set, most float64) error {
	if most == 0 {
		return nil
	}
	return engine.CheckRate(set.Info(), most)
}
