package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

func (a *app) intersectCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "intersect -o FILE A B...",
		Short: "Write a filter of the keys that all filters hold",
		Long: `Write a filter that holds every key that is in all the given ones. They must have the same spec and seed:
build them with the same --family, size, --capacity and --seed.

Families: ` + strings.Join(families.Having(filter.CanIntersect), ", ") + `.

A key that is in none of them is falsely present at a rate that is at most that of any of them, but larger than that
of a filter built from the common keys. A key that is in some of them is falsely present if the others say yes: at
their rates. Its number of keys is the smallest of theirs, an upper bound; see bloomery estimate A B.`,
		Example: `  bloomery build -o monday.bloom --family standard --fpr 1% --capacity 1M monday.txt
  bloomery build -o tuesday.bloom --family standard --fpr 1% --capacity 1M tuesday.txt
  bloomery intersect -o both.bloom monday.bloom tuesday.bloom`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return a.intersect(c.Context(), args, output) },
	}
	c.Flags().StringVarP(&output, "output", "o", "", "file to write, - for standard output")
	return c
}

func (a *app) intersect(ctx context.Context, paths []string, output string) error {
	if err := a.mayWrite(output, paths...); err != nil {
		return err
	}
	set, err := a.combine(paths, bloomery.IntersectFiles, (*bloomery.Set).Intersect)
	if err != nil {
		return err
	}
	defer set.Close()
	if err := a.save(ctx, set, output); err != nil {
		return err
	}
	r, err := written(set, output)
	if err != nil {
		return err
	}
	return a.report(r, "%s: at most %d keys, false positive rate %.4g", pathName(output), r.Keys, r.FPRPosterior)
}
