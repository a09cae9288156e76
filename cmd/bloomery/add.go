package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// added says what became of a filter that took keys.
func (a *app) added(path string) error {
	if a.quiet {
		return nil
	}
	r, err := a.report(path)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	_, err = fmt.Fprintf(a.stderr, "%s: %d keys, false positive rate %.4g\n", path, r.Keys, r.FPRPosterior)
	return err
}

func (a *app) addCommand() *cobra.Command {
	var in inputFlags
	c := &cobra.Command{
		Use:   "add FILE [INPUT...]",
		Short: "Add keys to a filter file",
		Long: `Add the keys of the inputs, or of standard input, to a filter file and write it back, all or nothing. Its size stays,
so its rate of false positives rises with every key; bloomery info tells. All families but fuse.
A rankindexed or dleft filter takes as many keys as its --capacity, and a little more; rankindexed doubles if its spec has
growth=. When it is full, nothing is added: exit code 2.
A second add to the same file waits for the first. If the file changes otherwise meanwhile, nothing is added: exit code 2.`,
		Example: "  bloomery add blocked.bloom new-entries.txt",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := a.take(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer f.held.Close()
			adder, ok := f.set.Filter().(filter.Adder)
			keyed, asks := f.set.Filter().(filter.RawKeyFilter)
			if !ok && !asks {
				return f.set.Add(nil) // says that the family cannot
			}
			prepare := hashing(f.set)
			if asks {
				prepare = asIs
			}
			err = a.feed(c.Context(), in, args[1:], "adding", prepare, func(b *keyio.Batch) error {
				if asks {
					return addKeys(keyed, b.Keys)
				}
				for _, h := range b.Hashes {
					if err := adder.Add(h); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return f.full(err)
			}
			if err := f.replace(c.Context()); err != nil {
				return err
			}
			return a.added(args[0])
		},
	}
	in.register(c)
	return c
}

func (a *app) mergeCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "merge -o FILE A B...",
		Short:   "Merge filter files of the same spec and seed",
		Long:    "Write a filter that holds the keys of all the given ones. They must agree in family, size and seed.",
		Example: "  bloomery merge -o all.bloom monday.bloom tuesday.bloom",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := mayReplace(output); err != nil {
				return err
			}
			set, err := a.load(args[0])
			if err != nil {
				return err
			}
			for _, path := range args[1:] {
				other, err := a.load(path)
				if err != nil {
					return err
				}
				if err := set.Merge(other); err != nil {
					return fmt.Errorf("%s and %s: %w", args[0], path, err)
				}
			}
			if err := set.Save(c.Context(), output); err != nil {
				return err
			}
			return a.added(output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "file to write")
	return c
}
