package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// aliasOf is the annotation of a flag that is another name of a flag.
const aliasOf = "alias_of"

// Alias adds a second name for the flag name of a command, which help and completion do not show.
func Alias(c *cobra.Command, alias, name string) {
	c.Flags().String(alias, "", "another name of --"+name)
	f := c.Flags().Lookup(alias)
	f.Hidden, f.Annotations = true, map[string][]string{aliasOf: {name}}
}

// Typed returns the flag name as the user typed it: "--" with the name, or with its alias.
func Typed(c *cobra.Command, name string) string {
	typed := name
	c.Flags().Visit(func(f *pflag.Flag) {
		if of := f.Annotations[aliasOf]; len(of) > 0 && of[0] == name {
			typed = f.Name
		}
	})
	return "--" + typed
}

// setAliased sets the flags whose aliases were given. A flag and its alias with different values are an error.
func setAliased(c *cobra.Command) (err error) {
	c.Flags().Visit(func(alias *pflag.Flag) {
		of := alias.Annotations[aliasOf]
		if len(of) == 0 || err != nil {
			return
		}

		f, text := c.Flags().Lookup(of[0]), alias.Value.String()
		if f.Changed && f.Value.String() != text {
			err = misused(c, "--%s %s and --%s %s are the same flag; give one of them", f.Name, f.Value, alias.Name, text)
			return
		}
		err = c.Flags().Set(f.Name, text)
	})
	return err
}
