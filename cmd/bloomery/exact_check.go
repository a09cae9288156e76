package main

import (
	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/keyio"
)

func (a *app) exactCheckCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check FILE [INPUT...]",
		Short: "Print the members among keys, without error for keys of the universe",
		Long: `Print those keys of the inputs, or of standard input, that are members, in their order, one a line, as
soon as they come. Exit code 0 if a key was printed (or counted), 1 if none was, 2 on an error. Rows, --json, -v and -c
work as in bloomery check.

For keys of the universe that the set was built with, no answer is wrong. Other keys are printed at the rate
outside_rate of exact info.

A set with partitions needs --partition-column. A partition that the universe did not have gets any answer.`,
		Example: `  bloomery exact check revoked.exact serials.txt
  bloomery exact check parts.exact --input-format csv --column serial --partition-column issuer seen.csv
  echo example.com | bloomery exact check -c blocked.exact`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.openExact(args[0])
			if err != nil {
				return err
			}
			if err := f.in.fitsPartitions(set, args[0]); err != nil {
				return err
			}
			ask := func(hits []bool, b *keyio.Batch) {
				if f.in.second == "" {
					set.ContainsMany(hits, b.Keys)
				} else {
					set.ContainsManyIn(hits, b.Second, b.Keys)
				}
			}
			return a.check(c.Context(), ask, func() error { return nil }, f, args[1:])
		},
	}
	f.register(c)
	f.in.partitionFlag(c)
	return c
}
