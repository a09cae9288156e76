package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/cli"
)

func (a *app) getCommand() *cobra.Command {
	var in inputFlags
	c := &cobra.Command{
		Use:   "get FILE [INPUT...]",
		Short: "Print the values of keys",
		Long: `Print those keys of the inputs, or of standard input, that the filter holds, each with a tab and its
value, in their order, as soon as they come. A build takes values with the keys, and put sets them; a key without one
has 0. The lines are keys: for a file with values add --input-format tsv. An absent key has, at the false-positive rate,
an arbitrary value, and always in a filter without fingerprints, such as ribbon(r=0,value_bits=8). Exit code 0 if a key
was printed, 1 if none was, 2 on an error.

With --json every key gets a line such as {"key":"yopmail.com","present":true,"value":3}.`,
		Example: "  bloomery get routes.bloom addresses.txt",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.open(args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			if _, err := valueBits(set); err != nil {
				return err
			}
			watch := watchValues(set, in)
			defer a.warnValues(args[0], watch)
			return a.lookUp(c.Context(), set, in, args[1:], "looking up", a.valueLine(set, in.end(), watch))
		},
	}
	in.register(c)
	return c
}

// valueLine prints the value of a key, with that end of the line.
func (a *app) valueLine(set *bloomery.Set, end byte, watch *valueWatch) lookup {
	return func(to, key []byte) ([]byte, bool, error) {
		value, ok, err := set.Get(key)
		if err == nil && !ok {
			watch.absent(key)
		}
		switch {
		case err != nil:
			return to, false, err
		case a.json:
			answer := struct {
				Key     string  `json:"key"`
				Present bool    `json:"present"`
				Value   *uint64 `json:"value,omitempty"`
			}{Key: string(key), Present: ok}
			if ok {
				answer.Value = &value
			}
			return cli.AppendJSON(to, answer), ok, nil
		case ok:
			to = append(append(to, key...), '\t')
			to = append(strconv.AppendUint(to, value, 10), end)
		}
		return to, ok, nil
	}
}
