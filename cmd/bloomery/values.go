package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/keyio"
)

// valueFlags are the flags for the position of values in the inputs of a command, for filters such as
// ribbon(value_bits=8): a column, or after the last tab of each line.
type valueFlags struct{ column string }

func (f *valueFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.column, "value-column", "", "`NAME`: column of the value, or its number (default 2)")
	cli.NameFlags(c, inputTitle, "value-column")
}

// parseValues sets the values of a batch; see keyio.Values.
type parseValues func(*keyio.Batch) error

// input returns the flags of inputs for a filter of that Spec, and the function that reads the values of a batch, or
// nil if the filter has none. If values are optional, either all keys of the inputs must have a value or none.
func (f *valueFlags) input(in inputFlags, s filter.Spec) (inputFlags, parseValues, error) {
	family, _ := families.ByName(s.Family()) // on error the zero Family, which has no values
	bits, keep := family.BuildValueBits(s), in.keep
	in, v, err := f.read(in, bits)
	if err != nil || bits == 0 {
		return in, nil, err
	}
	if family.NeedsValues(s) {
		if in.columns() && in.second == "" {
			return in, nil, errors.New("--value-column: each key of this filter needs a value; name its member")
		}
		return in, v.Read, nil
	}
	v.Optional, v.KeepEmpty = true, keep
	return in, (&sameForAll{Values: v}).read, nil
}

// sameForAll reads batches in which either all keys have values or none.
type sameForAll struct {
	keyio.Values
	with, without atomic.Bool
}

func (s *sameForAll) read(b *keyio.Batch) error {
	if err := s.Read(b); err != nil {
		return cli.Advise(err, adviceSeparator)
	}

	switch {
	case len(b.Keys) == 0:
		return nil
	case len(b.Values) > 0:
		s.with.Store(true)
	default:
		s.without.Store(true)
	}
	if s.with.Load() && s.without.Load() {
		return cli.Advise(fmt.Errorf("%s: some keys have a value and others have none", b.Input), adviceSeparator)
	}
	return nil
}

const adviceSeparator = `Nothing was written. Give every key a value or none. If keys contain tabs, take CSV:
  --input-format csv. Keys without values have the value 0, and put sets them.`

// read returns the flags of inputs with a value of the given number of bits for each key, and the position of the
// values.
func (f *valueFlags) read(in inputFlags, bits int) (_ inputFlags, v keyio.Values, err error) {
	in.secondFlag = "value-column"
	switch {
	case bits == 0 && f.column != "":
		return in, v, errors.New("--value-column: the keys of this filter have no values at its build; " +
			"they need --spec ribbon --value-bits V, or --value-bits V for values that change")
	case bits == 0:
		return in, v, nil
	case !in.columns():
		in.second = f.column // an error of keyio if it is wrong
		in.keep = true       // empty lines count for the line number in an error
		return in, keyio.Values{Bits: bits, Trim: in.trims()}, nil
	}

	if in.second = f.column; in.format != string(keyio.JSONL) {
		in.second = cmp.Or(f.column, "2")
	}
	if keys := cmp.Or(in.column, "1"); keys == in.second {
		return in, v, fmt.Errorf("--value-column: column %s has the keys; name the one with the values", keys)
	}
	return in, keyio.Values{Bits: bits, Column: true}, nil
}

// specAtBuild returns the Spec of the filter that a Config makes, as far as it is known before the keys. If the planner
// chooses a filter with values, the values are optional.
func specAtBuild(c bloomery.Config) filter.Spec {
	switch {
	case c.Like.Set != nil:
		return c.Like.Set.Spec()
	case c.Spec == "" && c.Needs.ValueBits > 0:
		return family.NewSpec(families.With(family.CanValues | family.CanBuildValues)[0], "value_bits", c.Needs.ValueBits)
	}
	s, _ := filter.ParseSpec(c.Spec) // the zero Spec has no family
	return s
}

// staticValues reports whether the values of a filter are set only by its build.
func staticValues(s filter.Spec) bool {
	f, _ := families.ByName(s.Family()) // else the zero Family
	return f.NeedsValues(s)
}

// nameConflict adds the key to an error about a key with two values. It reads the inputs again, unless they are pipes.
func (s *source) nameConflict(
	ctx context.Context, in *inputFlags, parse parseValues, h filter.Hasher, err error,
) error {
	var both *family.ValueError
	if !errors.As(err, &both) || !s.Rewindable() {
		return err
	}

	failed := s.pass(ctx, "naming the key", parse, func(b *keyio.Batch) error {
		for _, key := range b.Keys {
			if both.Of(h.Sum(key)) {
				both.Key = in.key(key)
				return errStop
			}
		}
		return nil
	})
	if failed != nil && !errors.Is(failed, errStop) {
		return failed
	}
	return both // not err, whose text does not have the key
}

// valueBits returns the number of bits of the values in a set, or an error if the set has no values.
func valueBits(set *bloomery.Set) (int, error) {
	bits, err := set.ValueBits()
	if errors.Is(err, filter.ErrUnsupported) {
		err = cli.Advise(err,
			"Build the filter with values: bloomery build --value-bits V, or --spec ribbon --value-bits V.")
	}
	return bits, err
}

// valueWatch detects inputs with values in commands that read each line as a key: such lines are not found, but the
// part before the value is.
type valueWatch struct {
	set         *bloomery.Set
	lines, keys atomic.Uint64 // absent lines that end in a value, and how many of these lines have a key of the set
}

// watchValues returns nil unless the set has values and the inputs have no columns.
func watchValues(set *bloomery.Set, in inputFlags) *valueWatch {
	if _, err := set.ValueBits(); err != nil || in.columns() {
		return nil
	}
	return &valueWatch{set: set}
}

// absent counts a line that was not found.
func (w *valueWatch) absent(line []byte) {
	if w == nil {
		return
	}

	at := bytes.LastIndexByte(line, keyio.DefaultSeparator)
	if at < 0 {
		return
	}
	if _, err := strconv.ParseUint(string(line[at+1:]), 10, 64); err != nil {
		return
	}

	w.lines.Add(1)
	if w.set.Contains(line[:at]) {
		w.keys.Add(1)
	}
}

// warnValues prints a warning if lines of the inputs seem to have values.
func (a *app) warnValues(path string, w *valueWatch) {
	if w == nil || w.lines.Load() == 0 || 2*w.keys.Load() <= w.lines.Load() {
		return
	}
	a.warn("%d lines were not found, and without the number behind the tab %d are in %s\n"+
		"  Lines are keys here. If these have values, take the keys only: --input-format tsv.",
		w.lines.Load(), w.keys.Load(), path)
}
