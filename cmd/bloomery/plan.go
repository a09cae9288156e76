package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/plan"
)

func (a *app) planCommand() *cobra.Command {
	var (
		size sizeFlags
		keys string
	)
	c := &cobra.Command{
		Use:   "plan --keys N [--fpr P | --bits-per-key B | --bytes N]",
		Short: "Compare what the families cost, before building",
		Long:  "Print size and predicted rate of false positives of every family for a number of keys, from formulas, and for\nfamilies that search from searches of a sample of made-up keys.",
		Example: `  bloomery plan --keys 10M --fpr 0.1%
  bloomery plan --keys 5G --bits-per-key 10 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			n, err := parseCount("--keys", keys)
			if err != nil {
				return err
			}
			s, err := size.sizing(c)
			if err != nil {
				return err
			}
			if s.IsZero() {
				s.FPR = 0.01
			}
			rows, err := plan.Compare(c.Context(), n, s)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(rows)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "spec\tsize\tbits a key\tpredicted rate")
			for _, r := range rows {
				if r.Problem != "" {
					fmt.Fprintf(w, "%s\t%s\n", r.Spec, r.Problem)
					continue
				}
				fmt.Fprintf(w, "%s\t%s\t%.2f\t%.3g\n", r.Spec, bytesText((r.Bits+7)/8), r.BitsPerKey, r.FPRPrior)
			}
			return w.Flush()
		},
	}
	size.register(c)
	c.Flags().StringVar(&keys, "keys", "", "number of keys, such as 133604, 10M or 5G")
	_ = c.MarkFlagRequired("keys")
	return c
}
