package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/stat"
)

func (a *app) mergeCommand() *cobra.Command {
	var output string
	var most float64
	c := &cobra.Command{
		Use:   "merge -o FILE A B...",
		Short: "Merge filters into one that contains the keys of all",
		Long: `Build the filters with equal --spec, size, --capacity and --seed. The result has their size, and a higher
rate. Keys in several filters count each time; the output estimates the number of different keys.`,
		Example: `  bloomery build -o monday.bloom --spec standard --capacity 1M monday.txt
  bloomery build -o tuesday.bloom --spec standard --capacity 1M tuesday.txt
  bloomery merge -o all.bloom monday.bloom tuesday.bloom`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.combine(c.Context(), args, output, most, bloomery.MergeFiles, (*bloomery.Set).Merge)
			if err != nil {
				return err
			}
			defer set.Close()
			return a.printKeys(set, output)
		},
	}
	maxFPRFlag(c, &most)
	outputFlag(c, &output)
	return c
}

func (a *app) intersectCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "intersect -o FILE A B...",
		Short: "Write a filter of the keys that all filters contain",
		Long: `The filters must fit together as for merge. Keys in none of them are present at most at the lowest rate,
keys in some of them at the rates of the others.`,
		Example: `  bloomery build -o monday.bloom --spec standard --capacity 1M monday.txt
  bloomery build -o tuesday.bloom --spec standard --capacity 1M tuesday.txt
  bloomery intersect -o both.bloom monday.bloom tuesday.bloom`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.combine(c.Context(), args, output, 0, bloomery.IntersectFiles, (*bloomery.Set).Intersect)
			if err != nil {
				return err
			}
			defer set.Close()
			r, err := written(set, output)
			if err != nil {
				return err
			}
			return a.report(r, "%s: at most %d keys, false-positive rate %s",
				pathName(output), r.Keys, stat.Percent(r.FPRPosterior))
		},
	}
	outputFlag(c, &output)
	return c
}

// combine combines the filter files by files and, if a path is "-", the result with the filter of standard input by do,
// and writes the result. Both functions must not depend on the order of the filters. It returns an error before the
// work if the output cannot be written, and writes nothing if most is not 0 and the rate exceeds it.
func (a *app) combine(
	ctx context.Context, paths []string, output string, most float64,
	files func(context.Context, []string, ...bloomery.Option) (*bloomery.Set, error),
	do func(s, other *bloomery.Set) error,
) (set *bloomery.Set, err error) {
	if err := a.mayWrite(output, paths...); err != nil {
		return nil, err
	}

	var in *bloomery.Set
	var names []string
	for _, path := range paths {
		if path != stdio {
			names = append(names, path)
		} else if in, err = a.open(stdio); err != nil {
			return nil, err
		}
	}

	secret, err := a.secret()
	if err != nil {
		return nil, err
	}
	if set, err = files(ctx, names, bloomery.WithSecret(secret)); err != nil {
		return nil, err
	}
	if in != nil {
		if err = do(set, in); err != nil {
			err = fmt.Errorf("standard input and %s: %w", strings.Join(names, ", "), err)
		}
	}
	if err == nil {
		if err = checkRate(set, most); err != nil {
			err = fmt.Errorf("%s: %w", output, err)
		}
	}
	if err == nil {
		err = a.save(ctx, set, output)
	}
	if err != nil {
		_ = set.Close()
		return nil, err
	}
	return set, nil
}
