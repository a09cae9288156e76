package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/eval/lab"
	"github.com/bloomery/bloomery/internal/cli"
)

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the experiments",
		Long:    "List the experiments, and about how long each of them takes on two cores.",
		Example: "  bloomery-lab list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return cli.WriteJSON(a.stdout, lab.Experiments())
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "name\ttakes\tsource\twhat is varied")
			for _, e := range lab.Experiments() {
				fmt.Fprintf(w, "%s\t%v\t%s\t%s\n", e.Name, time.Duration(e.Seconds)*time.Second, e.Source, e.Varies)
			}
			return w.Flush()
		},
	}
}
