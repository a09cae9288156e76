package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/lab"
)

func (a *app) labCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "lab",
		Short:   "Measure what the papers and our pages claim, and draw it",
		Example: "  bloomery lab list\n  bloomery lab run ph-late --out pictures\n  bloomery lab report --quick --out report",
	}
	c.AddCommand(a.labListCommand(), a.labRunCommand(), a.labReportCommand(), a.labCostsCommand())
	return c
}

// completeExperiments completes the names of experiments that are not yet on the command line.
func completeExperiments(
	_ *cobra.Command, named []string, _ string,
) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, e := range lab.Experiments() {
		if !slices.Contains(named, e.Name) {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.Varies))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// writeResultFile writes a file of results atomically. An interrupt takes effect after it.
func writeResultFile(path string, write func(io.Writer) error) error {
	return container.WriteAtomic(context.Background(), path, write)
}
