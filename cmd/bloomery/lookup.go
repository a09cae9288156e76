package main

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/keyio"
)

func (a *app) countCommand() *cobra.Command {
	var in inputFlags
	c := &cobra.Command{
		Use:   "count FILE [INPUT... | -e KEY...]",
		Short: "Print how often each key is in a filter",
		Long:  `Each line has a number, a tab and the key. See bloomery help values.`,
		Example: `  bloomery build -o seen.bloom --spec rankindexed --counting log.txt
  bloomery count seen.bloom names.txt`,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.open(args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			in.form = set.Hasher().Form()
			if _, _, err := bloomery.Keyed[filter.Hash](set).Count(filter.Hash{}); err != nil {
				return err
			}
			return a.lookUp(c.Context(), set, in, args[1:], "counting", a.countLine(set, &in))
		},
	}
	in.register(c)
	in.badRows(c, keyio.Pass)
	in.keyFlag(c)
	return c
}

// countLine prints the count of a key of the inputs.
func (a *app) countLine(set *bloomery.Set, in *inputFlags) lookup {
	return func(to, key, text []byte) ([]byte, bool, error) {
		n, saturated, err := set.Count(key)
		if err != nil {
			return to, false, err
		}
		if a.json {
			return cli.AppendJSON(to, rowLine{Key: in.key(text), Count: &n, Saturated: saturated}), n > 0, nil
		}
		if saturated {
			to = append(to, ">="...)
		}
		to = append(strconv.AppendUint(to, n, 10), '\t')
		return append(in.appendKey(to, text), in.end()), n > 0, nil
	}
}

func (a *app) getCommand() *cobra.Command {
	var in inputFlags
	c := &cobra.Command{
		Use:     "get FILE [INPUT... | -e KEY...]",
		Short:   "Print the values of keys",
		Long:    `Each line has a key that is in the filter, a tab and its value.`,
		Example: `  bloomery get routes.bloom addresses.txt`,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.open(args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			in.form = set.Hasher().Form()
			if _, err := valueBits(set); err != nil {
				return err
			}
			watch := watchValues(set, in)
			defer a.warnValues(args[0], watch)
			return a.lookUp(c.Context(), set, in, args[1:], "looking up", a.valueLine(set, &in, watch))
		},
	}
	in.register(c)
	in.badRows(c, keyio.Pass)
	in.keyFlag(c)
	return c
}

// valueLine prints the value of a key of the inputs.
func (a *app) valueLine(set *bloomery.Set, in *inputFlags, watch *valueWatch) lookup {
	return func(to, key, text []byte) ([]byte, bool, error) {
		value, ok, err := set.Get(key)
		if err == nil && !ok {
			watch.absent(text)
		}
		switch {
		case err != nil:
			return to, false, err
		case a.json:
			answer := rowLine{Key: in.key(text), Present: &ok}
			if ok {
				answer.Value = &value
			}
			return cli.AppendJSON(to, answer), ok, nil
		case ok:
			to = append(in.appendKey(to, text), '\t')
			to = append(strconv.AppendUint(to, value, 10), in.end())
		}
		return to, ok, nil
	}
}

// lookup appends the line about a key, if there is one, to a buffer, and reports whether the filter contains the key.
// text is the key in the input.
type lookup func(to, key, text []byte) (line []byte, present bool, err error)

// lookUp prints the output of look for each key of the inputs. It returns errNo if the filter contains none of them.
func (a *app) lookUp(
	ctx context.Context, set *bloomery.Set, in inputFlags, inputs []string, what string, look lookup,
) error {
	var any atomic.Bool
	err := a.pass(ctx, in, inputs, a.answering(what), func(b *keyio.Batch) error {
		for i, key := range b.Keys {
			line, present, err := look(b.Out, key, b.Text(i))
			if err != nil {
				return err
			}
			if b.Out = line; present {
				any.Store(true)
			}
		}
		return nil
	}, a.print)
	if err == nil {
		err = set.Err()
	}
	return exitIf(!any.Load(), err)
}
