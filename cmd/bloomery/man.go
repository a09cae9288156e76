package main

import (
	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
)

// manCommand writes the manual pages.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: `Write a manual page for each command into a folder: bloomery.1, bloomery-build.1 and so on. The folder is
created. To install them: bloomery man /usr/local/share/man/man1`,
		Example: "  bloomery man man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.MakeFolder(args[0]); err != nil {
				return err
			}
			return cli.WritePages(c.Context(), c.Root(), args[0])
		},
	}
}
