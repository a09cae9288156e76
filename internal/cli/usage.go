package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// advised is an error with a hint: what the user can do.
type advised struct {
	error
	hint string
}

func (e *advised) Unwrap() error { return e.error }

func (e *advised) Hint() string { return e.hint }

// Advise adds a hint to an error: what the user can do.
func Advise(err error, hint string) error { return &advised{err, hint} }

// Errors of the command line. cobra's own errors about commands, arguments and flags have no types, so this file checks
// all of them before cobra does, with its own messages and hints. Only pflag's errors have types: see flagError.

// strictUsage makes all commands check their arguments and flags, and help and commands with subcommands refuse unknown
// names.
func strictUsage(root *cobra.Command, topics []Topic) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range append(root.Commands(), root) {
		switch {
		case c.Name() == "help":
			describeHelp(c, topics)
		case c.HasSubCommands():
			c.Args = func(c *cobra.Command, args []string) error {
				if len(args) == 0 {
					return nil
				}
				return unknownCommand(c, args[0])
			}
		}
		if !c.Runnable() { // cobra checks the arguments of runnable commands only
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	strictArgs(root)
}

// strictHelp makes --help refuse unknown names of commands. It stores their error in failed, since a help function
// returns none.
func strictHelp(root *cobra.Command, failed *error) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if names := c.Flags().Args(); c.HasSubCommands() && len(names) > 0 {
			*failed = unknownCommand(c, names[0])
			return
		}
		help(c, args)
	})
}

// strictArgs makes a command and its subcommands check their arguments and flags.
func strictArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		strictArgs(sub)
	}

	check := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if err := setAliased(c); err != nil {
			return err
		}
		if check != nil {
			if err := checkArgs(c, check, args); err != nil {
				return err
			}
		}
		if err := c.ValidateRequiredFlags(); err != nil {
			return misused(c, "%s: %w", nameOf(c), err)
		}
		return cmp.Or(exclusiveFlags(c), noEmptyFlag(c))
	}
}

// noEmptyFlag returns an error if a flag has an empty text, so that an unset shell variable is not the same as no flag.
func noEmptyFlag(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		kind, text := f.Value.Type(), f.Value.String()
		if kind == "string" && text == "" || kind == "stringSlice" && text == "[]" {
			err = cmp.Or(err, misused(c, "--%s: the value is empty", f.Name))
		}
	})
	return err
}

// checkArgs runs a check of arguments and rewords its error: it names the last argument that is not accepted, or says
// that one is missing.
func checkArgs(c *cobra.Command, check cobra.PositionalArgs, args []string) error {
	err := check(c, args)
	var own interface{ Hint() string }
	if err == nil || errors.As(err, &own) {
		return err
	}
	for n := len(args) - 1; n >= 0; n-- {
		if check(c, args[:n]) == nil {
			return misused(c, "%s: argument %q is too many", nameOf(c), args[n])
		}
	}
	return misused(c, "%s: an argument is missing", nameOf(c))
}

// exclusiveGroups is the annotation in which cobra.Command.MarkFlagsMutuallyExclusive keeps the groups of a flag.
const exclusiveGroups = "cobra_annotation_mutually_exclusive"

// exclusiveFlags returns an error if the command line has several flags of a group that exclude each other.
func exclusiveFlags(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		for _, group := range f.Annotations[exclusiveGroups] {
			var given []string
			for _, name := range slices.Sorted(strings.FieldsSeq(group)) {
				if c.Flags().Changed(name) {
					given = append(given, Typed(c, name))
				}
			}
			if len(given) > 1 && err == nil {
				err = misused(c, "%s: %s exclude each other; give one of them", nameOf(c), strings.Join(given, " and "))
			}
		}
	})
	return err
}

// nameOf returns the name of a command, such as "bloomery" or "lab run".
func nameOf(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ") }

// misused returns an error about the command line of a command, with its usage as the hint.
func misused(c *cobra.Command, format string, args ...any) error {
	return Advise(fmt.Errorf(format, args...),
		fmt.Sprintf("Usage: %s\n  %s --help describes it.", Usage(c), c.CommandPath()))
}

// unknownCommand returns the error for an unknown subcommand of parent.
func unknownCommand(parent *cobra.Command, name string) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}

	advice := "There are " + strings.Join(names, ", ") + "."
	parent.SuggestionsMinimumDistance = 2
	if near := parent.SuggestionsFor(name); name != "" && len(near) > 0 {
		advice = "Did you mean " + Either(near) + "? " + advice
	}
	return Advise(fmt.Errorf("%s has no command %q", nameOf(parent), name), advice)
}

// describeHelp makes the help command of cobra show commands and topics.
func describeHelp(help *cobra.Command, topics []Topic) {
	help.Use, help.Short, help.Long = "help [COMMAND]", "Describe a command", ""
	help.Run, help.RunE = nil, showHelp
	if len(topics) == 0 {
		return
	}

	help.Use, help.Short = "help [COMMAND | TOPIC]", "Describe a command or a topic"
	var rows [][2]string
	var names []string
	for _, t := range topics {
		rows, names = append(rows, [2]string{t.Name, t.Short}), append(names, t.Name)
	}
	help.Long = "The topics are:\n\n" + Table(rows, 14)
	help.RunE = func(help *cobra.Command, args []string) error {
		if showTopic(help, topics, args) {
			return nil
		}
		err := showHelp(help, args)
		if len(args) != 1 || err == nil {
			return err
		}
		if near := similar(args[0], names...); len(near) > 0 {
			return Advise(errors.New(err.Error()), "Did you mean "+Either(near)+"? "+help.CommandPath()+" lists the topics.")
		}

		advice := "The topics are " + strings.Join(names, ", ") + "."
		var of *advised
		if errors.As(err, &of) {
			advice = of.hint + "\n" + advice
		}
		return Advise(errors.New(err.Error()), advice)
	}

	commands := help.ValidArgsFunction
	help.ValidArgsFunction = func(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
		words, directive := commands(c, args, begin)
		for _, t := range topics {
			if len(args) == 0 && strings.HasPrefix(t.Name, begin) {
				words = append(words, t.Name+"\t"+t.Short)
			}
		}
		return words, directive
	}
}

// similar returns the names that resemble a text, by the rules of cobra, which knows names of commands only.
func similar(text string, names ...string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return all.SuggestionsFor(text)
}

func showHelp(help *cobra.Command, args []string) error {
	c, rest, err := help.Root().Find(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return unknownCommand(c, rest[0])
	}
	c.InitDefaultHelpFlag()
	return c.Help()
}

// flagError rewords an error of pflag about the flags of a command.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	var required *pflag.ValueRequiredError
	var syntax *pflag.InvalidSyntaxError
	args := c.Flags().Args() // the arguments before the flag
	switch {
	case c.HasSubCommands() && len(args) > 0: // the flag may belong to the intended subcommand
		return unknownCommand(c, args[0])
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return misused(c, "%s has no flag -%s", nameOf(c), unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		return noFlag(c, unknown.GetSpecifiedName())
	case errors.As(err, &required):
		return misused(c, "--%s: a value is missing", required.GetFlag().Name)
	case errors.As(err, &value) && value.GetFlag().Value.Type() == "string": // its error is a whole message
		return value.Unwrap()
	case errors.As(err, &value) && value.GetFlag().Value.Type() == "func":
		return misused(c, "--%s %q: %w", value.GetFlag().Name, value.GetValue(), value.Unwrap())
	case errors.As(err, &value):
		return misused(c, "--%s %q: want %s", value.GetFlag().Name, value.GetValue(),
			cmp.Or(wanted[value.GetFlag().Value.Type()], "another value"))
	case errors.As(err, &syntax):
		return misused(c, "%s is not a flag", syntax.GetSpecifiedFlag())
	}
	return err
}

// wanted describes the valid values of flags, by type.
var wanted = map[string]string{
	"bool": "true or false", "uint64": "a whole number of 0 or more", "int": "a whole number", "float64": "a number",
	"duration": "a time such as 30s or 5m", "stringSlice": "a list such as a,b",
}

// noFlag returns the error for an unknown flag, and suggests similar flags.
func noFlag(c *cobra.Command, name string) error {
	var flags []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, "--"+f.Name)
		}
	})
	if near := similar("--"+name, flags...); len(near) > 0 {
		return misused(c, "%s has no flag --%s; did you mean %s?", nameOf(c), name, Either(near))
	}
	return misused(c, "%s has no flag --%s", nameOf(c), name)
}
