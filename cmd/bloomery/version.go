package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/internal/cli"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version, file format and platform",
		Example: "  bloomery version --json\n  bloomery --version",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

// versionFlag adds --version to the program, which then does the same as the command version.
func (a *app) versionFlag(root *cobra.Command) {
	show := root.Flags().Bool("version", false, "print version, file format and platform")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if *show {
			return a.printVersion()
		}
		return c.Help()
	}
}

func (a *app) printVersion() error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	return a.answer(map[string]any{
		"version": cli.Version(), "format_version": container.Version, "go": runtime.Version(), "platform": platform,
	}, "bloomery %s, file format %d, %s %s\n", cli.Version(), container.Version, runtime.Version(), platform)
}
