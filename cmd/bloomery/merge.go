package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

func (a *app) mergeCommand() *cobra.Command {
	var output string
	var rate rateFlags
	c := &cobra.Command{
		Use:   "merge -o FILE A B...",
		Short: "Merge filter files of the same spec and seed",
		Long: `Write a filter that holds the keys of all the given ones. They must have the same spec and seed: build them
with the same --family, size, --capacity and --seed. The result has the size of one of them. Its number of keys is the
sum: common keys count in each filter. The output says how many are distinct, estimated from the bits, if that is less.
If its rate exceeds the chosen one, merge prints a warning. Of different chosen rates the highest counts. Name each file
once; one of the filters may be -, standard input.

Families: ` + strings.Join(families.Having(filter.CanMerge), ", ") + ".",
		Example: `  bloomery build -o monday.bloom --family standard --fpr 1% --capacity 1M monday.txt
  bloomery build -o tuesday.bloom --family standard --fpr 1% --capacity 1M tuesday.txt
  bloomery merge -o all.bloom monday.bloom tuesday.bloom`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			most, err := rate.read(c)
			if err != nil {
				return err
			}
			return a.merge(c.Context(), args, output, most)
		},
	}
	rate.register(c)
	c.Flags().StringVarP(&output, "output", "o", "", "file to write, - for standard output")
	return c
}

func (a *app) merge(ctx context.Context, paths []string, output string, most float64) error {
	if err := a.mayWrite(output, paths...); err != nil {
		return err
	}
	set, err := a.combine(paths, bloomery.MergeFiles, (*bloomery.Set).Merge)
	if err != nil {
		return err
	}
	defer set.Close()
	if err := set.CheckFPR(most); err != nil {
		return fmt.Errorf("%s: %w", output, err)
	}
	if err := a.save(ctx, set, output); err != nil {
		return err
	}
	return a.printKeys(set, output)
}
