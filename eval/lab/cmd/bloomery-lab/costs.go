package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/eval/lab/measure"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/families"
)

func (a *app) costsCommand() *cobra.Command {
	var config measure.Config
	var out string
	c := &cobra.Command{
		Use:   "costs",
		Short: "Measure times of queries and builds for bloomery plan",
		Long: `Measure the time of a query and of a build of every kind of filter at 1000 to 50 million keys, on one
core, and write the table that bloomery plan reads. It takes about 20 minutes and needs an otherwise idle machine. The
table is compiled into bloomery: "go generate ./internal/families" replaces the one in the sources.

With --family only the filters of that family are measured, in about 3 minutes, beside fuse. The table is then the
compiled one with these times replaced, corrected by what fuse takes now and took then.`,
		Example: "  bloomery-lab costs --out costs.json\n  bloomery-lab costs --family ribbon --out costs.json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("trials") && config.Trials < 1 {
				return fmt.Errorf("--trials %d: want at least one", config.Trials)
			}
			p := a.show("measuring", cli.All, time.Now())
			config.Progress = p.Share(0, cli.All)
			costs, err := measure.Costs(c.Context(), config)
			p.End()
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return measure.Write(w, costs) }
			if out == "" || out == "-" {
				return write(a.stdout)
			}
			return writeResultFile(out, write)
		},
	}
	c.Flags().IntVar(&config.Trials, "trials", 0, "measurements of each query, of which the shortest counts (default 5)")
	c.Flags().BoolVar(&config.Quick, "quick", false, "small filters only, to see that it works")
	c.Flags().StringVar(&config.Family, "family", "", "measure the filters of this family only")
	names := cobra.FixedCompletions(families.Names(), cobra.ShellCompDirectiveNoFileComp)
	_ = c.RegisterFlagCompletionFunc("family", names)
	c.Flags().StringVar(&out, "out", "", "file to write, - for standard output (the default)")
	return c
}
