package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Columns is the width of help: every line of a page fits a screen of 80 columns.
const Columns = 80

// Topic is a page of help about what several commands share.
type Topic struct {
	Name, Short string
	Words       []string // other names of its subject, in lower case, with hyphens for spaces
	Text        func() string
}

// Is reports whether text is the name of the topic, or another name of its subject, with or without the word filter.
func (t Topic) Is(text string) bool {
	text = strings.ReplaceAll(strings.ToLower(text), " ", "-")
	short := strings.TrimSuffix(strings.TrimSuffix(text, "s"), "-filter")
	return text == t.Name || slices.Contains(t.Words, short)
}

// Page returns the page of the topic.
func (t Topic) Page() string { return Wrap(t.Short+".\n\n"+t.Text()) + "\n" }

// Annotations of flags: the title of their group, and whether a page has only their names.
const (
	flagGroup = "flag_group"
	flagNames = "flag_names"
)

// GroupFlags puts flags of a command below a title, in this order of groups.
func GroupFlags(c *cobra.Command, title string, names ...string) {
	groupFlags(c, flagGroup, title, names)
}

// NameFlags puts only the names of flags below a title, which says where they are described.
func NameFlags(c *cobra.Command, title string, names ...string) {
	groupFlags(c, flagNames, title, names)
}

func groupFlags(c *cobra.Command, kind, title string, names []string) {
	for _, name := range names {
		f := c.Flags().Lookup(name)
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[kind] = []string{title}
	}
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	if titles := c.Annotations[kind]; !slices.Contains(strings.Split(titles, "\n"), title) {
		c.Annotations[kind] = strings.TrimPrefix(titles+"\n"+title, "\n")
	}
}

// Page returns the help of a command: what it does, its usage, examples, commands and flags. The page of the program
// also lists the flags of all commands, and the topics.
func Page(c *cobra.Command, topics []Topic) string {
	var parts []string
	add := func(title, text string) {
		if text != "" {
			parts = append(parts, title+strings.TrimRight(text, "\n"))
		}
	}

	text := c.Short + ".\n\n" + c.Long
	if !c.HasParent() {
		text = cmp.Or(c.Long, c.Short+".")
	}
	add("", Wrap(strings.TrimRight(text, "\n")))
	add("Usage:\n", "  "+strings.Join(wrapped(Usage(c), Columns-4), "\n    "))
	add("Examples:\n", c.Example)
	addCommands(c, add)
	addFlags(c, add)
	if !c.HasParent() && len(topics) > 0 {
		var names []string
		for _, t := range topics {
			names = append(names, t.Name)
		}
		add("", Wrap(c.Name()+" COMMAND --help describes a command, "+c.Name()+" help TOPIC one of: "+
			strings.Join(names, ", ")+"."))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Usage returns the usage of a command, without the word for flags that cobra.Command.UseLine adds.
func Usage(c *cobra.Command) string {
	if c.HasAvailableSubCommands() {
		return c.CommandPath() + " COMMAND"
	}
	return strings.TrimSuffix(c.CommandPath(), c.Name()) + c.Use
}

// addCommands adds the subcommands of a command, by group.
func addCommands(c *cobra.Command, add func(title, text string)) {
	for _, g := range append(slices.Clone(c.Groups()), &cobra.Group{Title: "Commands:"}) {
		var rows [][2]string
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && (sub.IsAvailableCommand() || sub.Name() == "help") {
				rows = append(rows, [2]string{sub.Name(), sub.Short})
			}
		}
		add(g.Title+"\n", Table(rows, 12))
	}
}

// addFlags adds the flags of a command: by group, and then the flags of which the page shows only the names.
func addFlags(c *cobra.Command, add func(title, text string)) {
	flags := c.LocalFlags()
	if c.HasParent() { // the page of the program has the flags of all commands
		flags = c.LocalNonPersistentFlags()
	}

	titles := strings.Split(c.Annotations[flagGroup], "\n")
	if titles[0] != "" {
		titles = append([]string{""}, titles...)
	}
	for _, title := range titles {
		var rows [][2]string
		flags.VisitAll(func(f *pflag.Flag) {
			group := append(f.Annotations[flagGroup], "")[0]
			if f.Hidden || f.Name == "help" || group != title || f.Annotations[flagNames] != nil {
				return
			}
			name, text := FlagText(f)
			rows = append(rows, [2]string{name, text})
		})
		head := "Flags"
		if title != "" {
			head = title
		}
		add(head+":\n", Table(rows, 24))
	}

	for _, title := range strings.Split(c.Annotations[flagNames], "\n") {
		var names []string
		flags.VisitAll(func(f *pflag.Flag) {
			if group := f.Annotations[flagNames]; group != nil && group[0] == title && !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		})
		if len(names) > 0 {
			add(title+":\n", Indented(strings.Join(names, " ")))
		}
	}
}

// FlagText returns a flag as help shows it, such as "-o, --output FILE", and what it does, with its default. The name
// of its value is the word between backquotes in its usage. A usage that begins with the name and a colon is shown
// without.
func FlagText(f *pflag.Flag) (name, text string) {
	value, text := pflag.UnquoteUsage(f)
	text = strings.TrimPrefix(text, value+": ")
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	switch {
	case value != "" && f.NoOptDefVal != "":
		name += "[=" + value + "]"
	case value != "":
		name += " " + value
	}

	switch d := f.DefValue; {
	case d == "" || d == "false" || d == "0" || d == "0s" || d == "[]":
	case f.Value.Type() == "string":
		text += " (default " + strings.Trim(strconv.Quote(d), `"`) + ")"
	default:
		text += " (default " + d + ")"
	}
	return name, text
}

// FlagTable returns the lines of flags, for a topic.
func FlagTable(flags *pflag.FlagSet) string {
	var rows [][2]string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			name, text := FlagText(f)
			rows = append(rows, [2]string{name, text})
		}
	})
	return Table(rows, 24)
}

// Table returns lines of two columns. The second begins behind width+2 characters, below the first if that is longer.
func Table(rows [][2]string, width int) string {
	var b strings.Builder
	for _, row := range rows {
		text := indent(wrapped(row[1], Columns-width-2), width+2)
		if n := utf8.RuneCountInString(row[0]); n+2 <= width {
			text = "  " + row[0] + text[2+len(row[0]):]
		} else {
			text = "  " + row[0] + "\n" + text
		}
		b.WriteString(strings.TrimRight(text, " \n") + "\n")
	}
	return b.String()
}

// Wrap breaks paragraphs into lines of a screen. Lines that begin with a space are not changed.
func Wrap(text string) string {
	var out []string
	paragraph := ""
	flush := func() {
		if paragraph != "" {
			out = append(out, wrapped(paragraph, Columns)...)
			paragraph = ""
		}
	}
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && line[0] != ' ' {
			paragraph = strings.TrimPrefix(paragraph+" "+line, " ")
			continue
		}
		flush()
		out = append(out, line)
	}
	flush()
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// wrapped breaks a paragraph into lines of at most the given number of columns. A longer word, such as a spec, is broken
// behind its commas, and has a line to itself without one.
func wrapped(text string, columns int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		for len(word) > columns {
			end := strings.LastIndexByte(word[:columns], ',') + 1
			if end == 0 {
				break
			}
			if line != "" {
				lines, line = append(lines, line), ""
			}
			lines, word = append(lines, word[:end]), word[end:]
		}
		if line != "" && utf8.RuneCountInString(line+" "+word) > columns {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// Indented breaks a paragraph into lines of a screen, behind two spaces.
func Indented(text string) string { return indent(wrapped(text, Columns-2), 2) }

// indent joins lines, each behind n spaces.
func indent(lines []string, n int) string {
	space := strings.Repeat(" ", n)
	return space + strings.Join(lines, "\n"+space) + "\n"
}

// showTopic prints the page of a topic. It reports whether there is one.
func showTopic(c *cobra.Command, topics []Topic, args []string) bool {
	for _, t := range topics {
		if t.Is(strings.Join(args, " ")) {
			fmt.Fprint(c.OutOrStdout(), t.Page())
			return true
		}
	}
	return false
}
