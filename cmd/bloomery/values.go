package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// tab is the default separator.
const tab = "\t"

// separatorFlag is the byte between a key and its value in a line.
type separatorFlag string

func (f *separatorFlag) register(c *cobra.Command) {
	c.Flags().StringVar((*string)(f), "separator", tab, "byte between a key and its value in a line")
}

func (f separatorFlag) check() error {
	if len(f) != 1 || f == "\n" {
		return fmt.Errorf("--separator %q: want one byte", string(f))
	}
	return nil
}

// valueFlags say where the inputs of a command have the values of their keys, for static functions such as
// ribbon(value_bits=8).
type valueFlags struct {
	separator separatorFlag
	column    string
}

func (f *valueFlags) register(c *cobra.Command) {
	f.separator.register(c)
	const help = "csv, tsv: `name` or number of the column with the values (default the second)"
	c.Flags().Func("value-column", help, func(s string) error {
		if f.column = s; s == "" {
			return errors.New("name a column")
		}
		return nil
	})
}

// parseValues sets the values of a batch; see keyio.Values.
type parseValues func(*keyio.Batch) error

// input returns the flags of inputs with a value of that many bits beside each key, and the function that reads the
// values of a batch. Without values, bits is 0, it returns in and nil.
func (f *valueFlags) input(in inputFlags, bits int) (inputFlags, parseValues, error) {
	switch {
	case bits == 0 && (f.column != "" || f.separator != tab):
		return in, nil, fmt.Errorf("--separator and --value-column: the keys of this filter have no values at its "+
			"build; they need --family %s --value-bits V", either(families.With(filter.CanBuildValues)))
	case bits == 0:
		return in, nil, nil
	}
	if in.columns() {
		if in.second = f.column; in.second == "" {
			in.second = "2"
		}
		if keys := cmp.Or(in.column, "1"); keys == in.second {
			return in, nil, fmt.Errorf("--value-column: column %s has the keys; name the one with the values", keys)
		}
		return in, keyio.Values{Bits: bits, Column: true}.Read, nil
	}
	if f.column != "" {
		return in, nil, fmt.Errorf("--value-column %s: lines have no columns; add --input-format csv or tsv", f.column)
	}
	if err := f.separator.check(); err != nil {
		return in, nil, err
	}
	in.keep = true // empty lines count for the line number in an error
	return in, keyio.Values{Bits: bits, Separator: f.separator[0]}.Read, nil
}

// bitsAtBuild returns the number of bits of the values that a filter of a Config takes with the keys of its build, and
// 0 if it takes none. The planner chooses no filter that does.
func bitsAtBuild(c bloomery.Config) int {
	s, _ := filter.ParseSpec(c.Spec) // the zero Spec has no family
	if c.Like != nil {
		s = c.Like.Spec()
	}
	return bitsOf(s)
}

// bitsOf is bitsAtBuild for the Spec of a filter.
func bitsOf(s filter.Spec) int {
	f, _ := families.ByName(s.Family()) // else the zero Family
	return f.BuildValueBits(s)
}

// eachBatch returns a function that gives the keys of a batch to keys, or, with a parse, keys and values to withValues.
func eachBatch(
	parse parseValues, keys func([][]byte) error, withValues func([][]byte, []uint64) error,
) func(*keyio.Batch) error {
	if parse == nil {
		return func(b *keyio.Batch) error { return keys(b.Keys) }
	}
	return func(b *keyio.Batch) error {
		if err := parse(b); err != nil {
			return err
		}
		return withValues(b.Keys, b.Values)
	}
}

// countKeys returns the number of keys of the inputs, which parse, if not nil, may drop lines of.
func countKeys(ctx context.Context, in *keyio.Input, parse parseValues) (uint64, error) {
	if parse == nil {
		return in.Count(ctx)
	}
	var total atomic.Uint64
	err := in.Process(ctx, 0, func(_ int, b *keyio.Batch) error {
		err := parse(b)
		total.Add(uint64(len(b.Keys)))
		return err
	}, nil)
	return total.Load(), err
}

// nameConflict names the key of an error about a key with two values. It reads the inputs again, unless they are pipes.
func (a *app) nameConflict(ctx context.Context, in *keyio.Input, parse parseValues, h filter.Hasher, err error) error {
	var both *filter.ValueError
	if !errors.As(err, &both) || !in.Rewindable() {
		return err
	}
	p := newProgress()
	a.show(p, "naming the key", in.Size())
	defer p.end()
	failed := process(ctx, in, p, parse, func(b *keyio.Batch) error {
		for _, key := range b.Keys {
			if both.Of(h.Sum(key)) {
				both.Key = string(key)
				return errStop
			}
		}
		return nil
	})
	if failed != nil && !errors.Is(failed, errStop) {
		return failed
	}
	return both // not err, whose text was made without the key
}

// valueBits returns the number of bits of the values in a set, or an error if it keeps none.
func valueBits(set *bloomery.Set) (int, error) {
	bits, err := set.ValueBits()
	if errors.Is(err, filter.ErrUnsupported) {
		err = &advised{err, adviceValues}
	}
	return bits, err
}
