package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
)

// estimates is the report of estimate.
type estimates struct {
	Files        []string           `json:"files"`
	A            bloomery.Estimate  `json:"a"`
	B            *bloomery.Estimate `json:"b,omitempty"`
	Union        *bloomery.Estimate `json:"union,omitempty"`
	Intersection *bloomery.Estimate `json:"intersection,omitempty"`
}

func (a *app) estimateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "estimate A [B]",
		Short: "Estimate how many keys one or two filters hold",
		Long: `Estimate the number of distinct keys of a filter from its bits, and with a second filter the number of
keys that are in at least one of them (union) and in both (intersection), each with a 95% interval. No filter changes.

Two filters must have the same spec and seed: build them with the same --family, size, --capacity and --seed.
Families: ` + strings.Join(families.With(filter.CanEstimate), ", ") + `, guava, bitsandblooms.
For one filter of another family, the number is the one that the filter counts: see info.

The more bits are set, the wider the intervals. If every bit is set, the bits only tell that there are at least so
many keys; with --json the unknown numbers are then null. A number that is in the interval can still be wrong if an
adversary chose the keys.`,
		Example: `  bloomery build -o monday.bloom --family standard --fpr 1% --capacity 1M monday.txt
  bloomery build -o tuesday.bloom --family standard --fpr 1% --capacity 1M tuesday.txt
  bloomery estimate monday.bloom
  bloomery estimate monday.bloom tuesday.bloom`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := a.estimate(args)
			if err != nil {
				return err
			}
			return a.table(e, func(w io.Writer) {
				fmt.Fprintf(w, "%s\t%s\n", e.Files[0], estimateText(e.A))
				if e.B != nil {
					fmt.Fprintf(w, "%s\t%s\nunion\t%s\nintersection\t%s\n", e.Files[1], estimateText(*e.B),
						estimateText(*e.Union), estimateText(*e.Intersection))
				}
			})
		},
	}
}

// estimate returns the estimates for one or two files.
func (a *app) estimate(paths []string) (e estimates, err error) {
	e.Files = paths
	sets := make([]*bloomery.Set, len(paths))
	for i, path := range paths {
		if sets[i], err = a.open(path); err != nil {
			return e, err
		}
		defer sets[i].Close()
	}
	if len(sets) == 1 {
		e.A, err = sets[0].EstimateInterval()
		return e, errors.Join(err, sets[0].Err())
	}
	o, err := sets[0].EstimateOverlap(sets[1])
	if errors.Is(err, filter.ErrMismatch) {
		return e, cli.Advise(fmt.Errorf("%s and %s: %w", paths[0], paths[1], err),
			`Filters can be compared if their specs and seeds are the same: build them with the same
  --family, size, --capacity and --seed.`)
	}
	e.A, e.B, e.Union, e.Intersection = o.A, &o.B, &o.Union, &o.Intersection
	return e, errors.Join(err, sets[0].Err(), sets[1].Err())
}

// estimateText returns the numbers as text, such as "1004 keys (95%: 990 to 1018)".
func estimateText(e bloomery.Estimate) string {
	switch {
	case e.Counted:
		return fmt.Sprintf("%.0f keys, as counted by the filter", e.Keys)
	case math.IsInf(e.High, 1) && e.Low == 0:
		return "any number of keys: every bit is set"
	case math.IsInf(e.High, 1):
		return fmt.Sprintf("at least %.0f keys (95%%): every bit is set", e.Low)
	}
	return fmt.Sprintf("%.0f keys (95%%: %.0f to %.0f)", e.Keys, e.Low, e.High)
}
