package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
)

func (a *app) countCommand() *cobra.Command {
	var in inputFlags
	c := &cobra.Command{
		Use:   "count FILE [INPUT...]",
		Short: "Print how often a filter holds each key",
		Long: `Print for each key of the inputs, or of standard input, how often it was added less how often it was
removed, a tab and the key, in their order, as soon as they come. The number may be too large, at the false-positive
rate. It is never too small: a counter at its maximum is printed as >=15, and the key may have been added any number
of times.

Families: ` + strings.Join(families.With(filter.CanCount), ", ") + `.
Families that also have a form without counters (--counting) then count each key once for the build, and every time that it
is added later. Exit code 0 if a number was above 0, 1 if none was, 2 on an error.

With --json every key gets a line such as {"key":"yopmail.com","count":2}, with "saturated":true if the count is a
lower bound.`,
		Example: `  bloomery build -o seen.bloom --family rankindexed --counting log.txt
  bloomery count seen.bloom names.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.open(args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			if _, _, err := set.CountHash(filter.Hash{}); err != nil {
				return err
			}
			return a.lookUp(c.Context(), set, in, args[1:], "counting", a.countLine(set, in.end()))
		},
	}
	in.register(c)
	return c
}

// countLine prints the count of a key, with that end of the line.
func (a *app) countLine(set *bloomery.Set, end byte) lookup {
	return func(to, key []byte) ([]byte, bool, error) {
		n, saturated, err := set.Count(key)
		if err != nil {
			return to, false, err
		}
		if a.json {
			return cli.AppendJSON(to, struct {
				Key       string `json:"key"`
				Count     uint64 `json:"count"`
				Saturated bool   `json:"saturated,omitempty"`
			}{string(key), n, saturated}), n > 0, nil
		}
		if saturated {
			to = append(to, ">="...)
		}
		to = append(strconv.AppendUint(to, n, 10), '\t')
		return append(append(to, key...), end), n > 0, nil
	}
}
