package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
)

func (a *app) mergeCommand() *cobra.Command {
	var output string
	var rate rateFlags
	c := &cobra.Command{
		Use:   "merge -o FILE A B...",
		Short: "Merge filter files of the same spec and seed",
		Long: "Write a filter that holds the keys of all the given ones. They must have the same spec and seed:\n" +
			"build them with the same --family, size, --capacity and --seed. A rate that has left\n" +
			"the chosen one is a warning: the size is that of one of them. Of different chosen rates the highest counts.",
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
	c.Flags().StringVarP(&output, "output", "o", "", "file to write")
	return c
}

func (a *app) merge(ctx context.Context, paths []string, output string, most float64) error {
	if err := mayReplace(output); err != nil {
		return err
	}
	set, err := a.open(paths[0], bloomery.InMemory())
	if err != nil {
		return err
	}
	for _, path := range paths[1:] {
		if err := a.mergeFile(set, path); err != nil {
			return fmt.Errorf("%s and %s: %w", paths[0], path, err)
		}
	}
	if err := set.Info().CheckFPR(most); err != nil {
		return fmt.Errorf("%s: %w", output, err)
	}
	if err := set.Save(ctx, output); err != nil {
		return err
	}
	return a.printKeys(set, output)
}

// mergeFile adds the keys of a filter file to a set.
func (a *app) mergeFile(set *bloomery.Set, path string) error {
	other, err := a.open(path)
	if err != nil {
		return err
	}
	defer other.Close()
	if err := set.Merge(other); err != nil {
		return err
	}
	return other.Err()
}
