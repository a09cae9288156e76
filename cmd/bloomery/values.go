package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
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

// input returns the flags of inputs with a value of that many bits beside each key, and the function that reads the
// values of a batch into its output; see splitValues. Without values, bits is 0, it returns in and nil.
func (f *valueFlags) input(in inputFlags, bits int) (inputFlags, parseValues, error) {
	switch {
	case bits == 0 && (f.column != "" || f.separator != tab):
		return in, nil, fmt.Errorf("--separator and --value-column: the keys of this filter have no values at its "+
			"build; they need --family %s --value-bits V", either(families.With(filter.CanBuildValues)))
	case bits == 0:
		return in, nil, nil
	}
	largest := uint64(1)<<bits - 1
	if in.columns() {
		if in.second = f.column; in.second == "" {
			in.second = "2"
		}
		return in, func(b *keyio.Batch) error { return columnValues(b, largest) }, nil
	}
	if f.column != "" {
		return in, nil, fmt.Errorf("--value-column %s: lines have no columns; add --input-format csv or tsv", f.column)
	}
	in.keep = true // empty lines count for the line number in an error
	return in, func(b *keyio.Batch) error { return splitValues(b, f.separator[0], largest) }, f.separator.check()
}

// parseValues appends the value of each key of a batch to its output, in 8 bytes, little endian.
type parseValues func(*keyio.Batch) error

// columnValues is parseValues for the second column of a batch.
func columnValues(b *keyio.Batch, largest uint64) error {
	for i, text := range b.Second {
		value, err := parseValue(text, largest)
		if err != nil {
			return fmt.Errorf("%s: key %.80q: %w", b.Input, b.Keys[i], err)
		}
		b.Out = binary.LittleEndian.AppendUint64(b.Out, value)
	}
	return nil
}

// valuesOf returns the values of a batch after parseValues.
func valuesOf(b *keyio.Batch) []uint64 {
	values := make([]uint64, len(b.Keys))
	for i := range values {
		values[i] = binary.LittleEndian.Uint64(b.Out[8*i:])
	}
	return values
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
		return withValues(b.Keys, valuesOf(b))
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

// splitValues splits the lines of a batch into its keys and, in its output, their values of 8 bytes. It drops empty
// lines.
func splitValues(b *keyio.Batch, separator byte, largest uint64) error {
	keys := b.Keys[:0]
	for i, line := range b.Keys {
		if len(line) == 0 {
			continue
		}
		key, value, err := splitValue(line, separator, largest)
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
func splitValue(line []byte, separator byte, largest uint64) (key []byte, value uint64, err error) {
	at := bytes.LastIndexByte(line, separator)
	if at < 0 {
		return nil, 0, fmt.Errorf("%.80q has no value; want a key, %q and a number", line, separator)
	}
	value, err = parseValue(line[at+1:], largest)
	return line[:at], value, err
}

// parseValue reads a value.
func parseValue(text []byte, largest uint64) (uint64, error) {
	value, err := strconv.ParseUint(string(text), 10, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("value %.80q: want a whole number", text)
	case value > largest:
		return 0, fmt.Errorf("value %d is too large: this filter has room for up to %d", value, largest)
	}
	return value, nil
}
