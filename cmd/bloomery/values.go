package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// hintValues says which filters keep values.
const hintValues = "Family rankindexed keeps values: build with --family rankindexed --value-bits V."

// valuer returns the part of a set that keeps values, if it does, and the largest one.
func valuer(set *bloomery.Set) (v filter.Valuer, largest uint64, err error) {
	v, ok := set.Filter().(filter.Valuer)
	if !ok {
		_, _, err := set.Get(nil) // says that the family cannot
		return nil, 0, &advised{err, hintValues}
	}
	r := filter.SpecOf(set.Filter()).Reader()
	bits := r.Uint("value_bits")
	if bits == 0 {
		return nil, 0, &advised{fmt.Errorf("this filter was built without values: %w", filter.ErrUnsupported), hintValues}
	}
	return v, 1<<bits - 1, nil
}

func (a *app) putCommand() *cobra.Command {
	var separator string
	c := &cobra.Command{
		Use:   "put FILE [INPUT...]",
		Short: "Set the values of keys in a filter file",
		Long: `Set the values of keys, from lines such as "yopmail.com<TAB>3", in a filter file that was built with --value-bits, and write
it back, all or nothing. The value is a decimal number behind the last tab of the line. Keys that are not there are added.

A key that looks like another one, at the rate of false positives, shares its value: the last that was put.`,
		Example: `  bloomery build -o routes.bloom --family rankindexed --value-bits 8 --capacity 1M empty.txt
  bloomery put routes.bloom routes.tsv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(separator) != 1 || separator == "\n" {
				return fmt.Errorf("--separator %q: want one byte", separator)
			}
			f, err := a.take(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer f.held.Close()
			v, largest, err := valuer(f.set)
			if err != nil {
				return err
			}
			hasher := f.set.Hasher()
			lines := inputFlags{format: "lines", keep: true} // empty ones count for the line in an error
			err = a.feed(c.Context(), lines, args[1:], "putting", func(b *keyio.Batch) error {
				for i, line := range b.Keys {
					if len(line) == 0 {
						continue
					}
					key, value, err := splitValue(line, separator[0])
					if err == nil && value > largest {
						err = fmt.Errorf("value %d is too large: this filter has room for up to %d", value, largest)
					}
					if err != nil {
						return fmt.Errorf("%s: line %d: %w", b.Input, b.Line+int64(i), err)
					}
					b.Hashes = append(b.Hashes, hasher.Sum(key))
					b.Out = binary.LittleEndian.AppendUint64(b.Out, value)
				}
				return nil
			}, func(b *keyio.Batch) error {
				for i, h := range b.Hashes {
					if err := v.Put(h, binary.LittleEndian.Uint64(b.Out[8*i:])); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return f.full(err)
			}
			if err := f.replace(c.Context()); err != nil {
				return err
			}
			return a.added(args[0])
		},
	}
	c.Flags().StringVar(&separator, "separator", "\t", "byte between key and value")
	return c
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

func (a *app) getCommand() *cobra.Command {
	var in inputFlags
	c := &cobra.Command{
		Use:   "get FILE [INPUT...]",
		Short: "Print the values of keys",
		Long: `Print those keys of the inputs, or of standard input, that the filter holds, each with a tab and its value, in their order, as
soon as they come. Values come by put; a key without one has 0. A key that is not there has, at the rate of false
positives, the value of one that looks like it. Exit code 0 if a key was printed, 1 if none was, 2 on an error.
With --json every key gets a line such as {"key":"yopmail.com","present":true,"value":3}.`,
		Example: "  bloomery get routes.bloom addresses.txt",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.tell(c.Context(), in, args, "looking up", func(set *bloomery.Set) (teller, error) {
				v, _, err := valuer(set)
				return func(to, key []byte, h filter.Hash) ([]byte, bool) {
					value, ok := v.Get(h)
					if a.json {
						answer := struct {
							Key     string  `json:"key"`
							Present bool    `json:"present"`
							Value   *uint64 `json:"value,omitempty"`
						}{Key: string(key), Present: ok}
						if ok {
							answer.Value = &value
						}
						return appendJSON(to, answer), ok
					}
					if ok {
						to = append(append(to, key...), '\t')
						to = append(strconv.AppendUint(to, value, 10), '\n')
					}
					return to, ok
				}, err
			})
		},
	}
	in.register(c)
	return c
}
