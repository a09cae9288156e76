package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bloomery/bloomery/internal/container"
)

// ManCommand returns the command of a program that writes its manual pages. other is the name of one of them, for the
// help.
func ManCommand(program, other string) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: fmt.Sprintf(`Write a manual page for each command into a folder: %[1]s.1, %[2]s.1 and so on. The folder is
created. To install them: %[1]s man /usr/local/share/man/man1`, program, other),
		Example: "  " + program + " man man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := MakeFolder("DIR", args[0]); err != nil {
				return err
			}
			return writePages(c.Context(), c.Root(), args[0])
		},
	}
}

// writePages writes a manual page in the macros of man(7) for the command and each command below it into a folder.
// Package cobra/doc is not used: it reads help texts as Markdown, which loses their lists and words such as <TAB>, and
// it makes a program 600 kB larger.
func writePages(ctx context.Context, c *cobra.Command, dir string) error {
	path := filepath.Join(dir, pageName(c)+".1")
	write := func(w io.Writer) error { return writePage(w, c) }
	err := container.WriteAtomic(ctx, path, write)
	for _, sub := range c.Commands() {
		if documented(sub) {
			err = errors.Join(err, writePages(ctx, sub, dir))
		}
	}
	return err
}

func documented(c *cobra.Command) bool { return c.IsAvailableCommand() && c.Name() != "help" }

// pageName returns the name of a page, such as bloomery-lab-run.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// writePage writes the page of one command, in the macros of man(7).
func writePage(w io.Writer, c *cobra.Command) error {
	var b strings.Builder
	name := pageName(c)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s %s\" \"\"\n",
		strings.ToUpper(roff(name)), roff(c.Root().Name()), roff(Version()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n", roff(c.UseLine()))
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "%s\n", roff(c.CommandPath()+" COMMAND"))
	}
	b.WriteString(".fi\n.SH DESCRIPTION\n")
	writeText(&b, c.Long)
	if c.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if documented(sub) {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(pageName(sub)), roff(sub.Short))
			}
		}
	}
	writeFlags(&b, "OPTIONS", c.NonInheritedFlags())
	writeFlags(&b, "GLOBAL OPTIONS", c.InheritedFlags())
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(pageName(c.Parent())))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeText writes paragraphs. Lines that begin with a space keep their breaks, as in the help.
func writeText(b *strings.Builder, text string) {
	kept := false
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimSuffix(line, "\n")
		if indented := strings.HasPrefix(line, " "); indented != kept && line != "" {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[indented])
			kept = indented
		}
		switch {
		case line != "":
			fmt.Fprintln(b, roff(line))
		case kept:
			b.WriteString(".sp\n")
		default:
			b.WriteString(".PP\n")
		}
	}
	if kept {
		b.WriteString(".fi\n")
	}
}

func writeFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		text := strings.TrimSuffix("--"+f.Name+" "+value, " ")
		if f.Shorthand != "" {
			text = "-" + f.Shorthand + ", " + text
		}
		if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "0s" && d != "[]" {
			if f.Value.Type() == "string" {
				d = strconv.Quote(d)
			}
			usage += " (default " + d + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(text), roff(usage))
	})
}

var beginsMacro = regexp.MustCompile(`(?m)^[.']`)

// roff escapes text: backslashes, hyphens, and points and apostrophes at the start of a line, which begin macros.
func roff(text string) string {
	return beginsMacro.ReplaceAllString(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), `\&$0`)
}
