package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bloomery/bloomery/internal/cli"
)

// writePages writes a manual page in the macros of man(7) for the command and each command below it into a folder.
// Package cobra/doc is not used: it reads help texts as Markdown, which loses their lists and words such as <TAB>.
func writePages(c *cobra.Command, dir string) error {
	err := os.WriteFile(filepath.Join(dir, pageName(c)+".1"), []byte(manPage(c)), 0o666)
	for _, sub := range c.Commands() {
		if documented(sub) {
			err = errors.Join(err, writePages(sub, dir))
		}
	}
	return err
}

// writeTopics writes a page for each topic of help.
func writeTopics(topics []cli.Topic, dir string) (err error) {
	for _, topic := range topics {
		var b strings.Builder
		name := "bloomery-help-" + topic.Name
		fmt.Fprintf(&b, ".TH %s 1 \"\" \"bloomery\" \"\"\n", strings.ToUpper(roff(name)))
		fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH DESCRIPTION\n", roff(name), roff(topic.Short))
		writeText(&b, strings.TrimRight(topic.Text(), "\n"))
		b.WriteString(".SH SEE ALSO\n.BR bloomery (1)\n")
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name+".1"), []byte(b.String()), 0o666))
	}
	return err
}

func documented(c *cobra.Command) bool { return c.IsAvailableCommand() && c.Name() != "help" }

// pageName returns the name of a page, such as bloomery-exact-build.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage returns the page of one command, in the macros of man(7).
func manPage(c *cobra.Command) string {
	var b strings.Builder
	name := pageName(c)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s\" \"\"\n", strings.ToUpper(roff(name)), roff(c.Root().Name()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n.SH DESCRIPTION\n", roff(cli.Usage(c)))
	writeText(&b, strings.TrimSpace(c.Short+".\n\n"+c.Long))
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
	return b.String()
}

// writeText writes paragraphs. Lines that begin with a space keep their breaks, as in the help.
func writeText(b *strings.Builder, text string) {
	kept := false
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimSuffix(line, "\n")
		if indented := strings.HasPrefix(line, " "); indented != kept && line != "" {
			macro := ".fi\n"
			if indented {
				macro = ".nf\n"
			}
			b.WriteString(macro)
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
		text, usage := cli.FlagText(f)
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(text), roff(usage))
	})
}

var beginsMacro = regexp.MustCompile(`(?m)^[.']`)

// roff escapes text: backslashes, hyphens, and points and apostrophes at the start of a line, which begin macros.
func roff(text string) string {
	return beginsMacro.ReplaceAllString(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), `\&$0`)
}
