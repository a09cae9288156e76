package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/lab"
)

func (a *app) labCostsCommand() *cobra.Command {
	var config lab.Config
	var out string
	c := &cobra.Command{
		Use:   "costs",
		Short: "Measure what queries and builds take, for bloomery plan",
		Long: `Measure, on one core, the time of a query and of a build of every kind of filter at 1000 to 50 million keys, and write
the table that bloomery plan reads. It takes some twenty minutes; nothing else should run meanwhile. A build of bloomery has the
table of its sources: go generate ./plan writes it there.`,
		Example: "  bloomery lab costs --out costs.json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkLab(c, config); err != nil {
				return err
			}
			p := newProgress()
			a.show(p, "measuring", progressAll)
			costs, err := lab.Costs(c.Context(), p.follows(config, 0, progressAll))
			p.end()
			if err != nil {
				return err
			}
			write := func(w io.Writer) error {
				e := json.NewEncoder(w)
				e.SetIndent("", " ")
				return e.Encode(costs)
			}
			if out == "" {
				return write(a.stdout)
			}
			return writeWhole(out, write)
		},
	}
	c.Flags().IntVar(&config.Trials, "trials", 0, "times that each query is measured, of which the least counts (default 5)")
	c.Flags().BoolVar(&config.Quick, "quick", false, "small filters only, to see that it works")
	c.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return c
}
