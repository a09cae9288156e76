package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// putFlags are the flags of bloomery put.
type putFlags struct {
	separator string
	add, null bool
	rate      rateFlags
}

func (a *app) putCommand() *cobra.Command {
	var f putFlags
	c := &cobra.Command{
		Use:   "put FILE [INPUT...]",
		Short: "Set the values of keys in a filter file",
		Long: `Set the values of keys, from lines such as "yopmail.com<TAB>3", in a filter file that was built with
--value-bits, and write it back, all or nothing. The value is a decimal number behind the last tab of the line. The
keys must be there, from build or add; with --add each line adds a new key instead, which takes a place of its own
even if the key is there already.

Keys that look alike, at the false-positive rate, share a value: the last one that was put.`,
		Example: `  bloomery build -o routes.bloom --family rankindexed --value-bits 8 --capacity 1M /dev/null
  bloomery put --add routes.bloom routes.tsv
  bloomery put routes.bloom changes.tsv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(f.separator) != 1 || f.separator == "\n" {
				return fmt.Errorf("--separator %q: want one byte", f.separator)
			}
			most, err := f.rate.read(c)
			if err != nil {
				return err
			}
			l, err := a.lock(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			if err := a.put(c.Context(), l.Set, f, args[0], args[1:]); err != nil {
				return adviseAdd(err, args[0], l.Spec())
			}
			return a.replace(c.Context(), l, args[0], most)
		},
	}
	f.rate.register(c)
	c.Flags().BoolVar(&f.add, "add", false, "add the keys of the inputs, each with its value")
	c.Flags().BoolVarP(&f.null, "null", "0", false, "lines end in a NUL byte, so that keys may contain line feeds")
	c.Flags().StringVar(&f.separator, "separator", "\t", "byte between key and value")
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
	parse := func(b *keyio.Batch) error { return splitValues(b, f.separator[0], 1<<bits-1) }
	return a.pass(ctx, lines, inputs, "putting", parse, func(b *keyio.Batch) error {
		for i, key := range b.Keys {
			err := put(key, binary.LittleEndian.Uint64(b.Out[8*i:]))
			if errors.Is(err, filter.ErrNotFound) {
				return &advised{fmt.Errorf("%s: a key is not in %s: %w", b.Input, path, err), advicePut}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// valueBits returns the number of bits of the values in a set, or an error if it keeps none.
func valueBits(set *bloomery.Set) (int, error) {
	bits, err := set.ValueBits()
	if errors.Is(err, filter.ErrUnsupported) {
		err = &advised{err, adviceValues}
	}
	return bits, err
}

// splitValues splits the lines of a batch into its keys and, in its output, their values of 8 bytes. It drops empty
// lines.
func splitValues(b *keyio.Batch, separator byte, largest uint64) error {
	keys := b.Keys[:0]
	for i, line := range b.Keys {
		if len(line) == 0 {
			continue
		}
		key, value, err := splitValue(line, separator)
		if err == nil && value > largest {
			err = fmt.Errorf("value %d is too large: this filter has room for up to %d", value, largest)
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", b.Input, b.Line+int64(i), err)
		}
		keys = append(keys, key)
		b.Out = binary.LittleEndian.AppendUint64(b.Out, value)
	}
	b.Keys = keys
	return nil
}

// splitValue splits a line at its last separator.
func splitValue(line []byte, separator byte) (key []byte, value uint64, err error) {
	at := bytes.LastIndexByte(line, separator)
	if at < 0 {
		return nil, 0, fmt.Errorf("%.80q has no value; want a key, %q and a number", line, separator)
	}
	value, err = strconv.ParseUint(string(line[at+1:]), 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("value %.80q: want a whole number", line[at+1:])
	}
	return line[:at], value, nil
}
