package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/keyio"
)

// putFlags are the flags of bloomery put.
type putFlags struct {
	separator separatorFlag
	add, null bool
	most      float64 // rate
}

func (a *app) putCommand() *cobra.Command {
	var f putFlags
	c := &cobra.Command{
		Use:   "put FILE [INPUT...]",
		Short: "Set the values of keys in a filter file",
		Long: `Set the values of keys, from lines such as "yopmail.com<TAB>3", in a rankindexed filter file that was
built with --value-bits, and write it back, all or nothing. The value is a decimal number behind the last tab of the
line. The keys must be there, from build or add; with --add each line adds a new key instead, which takes a place of its
own even if the key is there already.

Keys that look alike, at the false-positive rate, share a value: the last one that was put.`,
		Example: `  bloomery build -o routes.bloom --family rankindexed --value-bits 8 --capacity 1M /dev/null
  bloomery put --add routes.bloom routes.tsv
  bloomery put routes.bloom changes.tsv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.separator.check(); err != nil {
				return err
			}
			return a.change(c.Context(), args[0], f.most, func(set *bloomery.Set) error {
				return a.put(c.Context(), set, f, args[0], args[1:])
			})
		},
	}
	maxFPRFlag(c, &f.most)
	c.Flags().BoolVar(&f.add, "add", false, "add the keys of the inputs, each with its value")
	c.Flags().BoolVarP(&f.null, "null", "0", false, "lines end in a NUL byte, so that keys may contain line feeds")
	f.separator.register(c)
	return c
}

// put sets the values of the keys in the inputs, in the set of the file at path.
func (a *app) put(ctx context.Context, set *bloomery.Set, f putFlags, path string, inputs []string) error {
	bits, err := valueBits(set)
	if err != nil {
		return err
	}
	put := set.Put
	if f.add {
		put = set.AddValue
	}
	lines := inputFlags{format: "lines", keep: true, null: f.null} // empty lines count for the line number in an error
	parse := keyio.Values{Bits: bits, Separator: f.separator[0]}.Read
	return a.pass(ctx, lines, inputs, "putting", parse, func(b *keyio.Batch) error {
		for i, key := range b.Keys {
			err := put(key, b.Values[i])
			if errors.Is(err, filter.ErrNotFound) {
				return cli.Advise(fmt.Errorf("%s: a key is not in %s: %w", b.Input, path, err),
					"Nothing was written. put --add adds the keys of the input, each with its value.")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
