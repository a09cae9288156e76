package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestListing compares the flags of all commands with docs/api/cmd-bloomery.txt. TestListing in internal/docs makes
// the file from the source.
func TestListing(t *testing.T) {
	text, err := os.ReadFile("../../docs/api/cmd-bloomery.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`(?m)^.* flag --\S+( -\S)?`).FindAllString(string(text), -1)

	var flags []string
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, flagLine(c, f)) })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, flagLine(c, f)) })
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&app{}).rootCommand())
	slices.Sort(flags)

	if got, want := strings.Join(listed, "\n"), strings.Join(flags, "\n"); got != want {
		t.Errorf("docs/api/cmd-bloomery.txt has the flags\n%s\nwant\n%s", got, want)
	}
}

func flagLine(c *cobra.Command, f *pflag.Flag) string {
	line := c.CommandPath() + " flag --" + f.Name
	if f.Shorthand != "" {
		line += " -" + f.Shorthand
	}
	return line
}
