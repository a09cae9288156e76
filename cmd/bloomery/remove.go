package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// removed is what remove reports.
type removed struct {
	Removed  uint64 `json:"removed"`
	NotFound uint64 `json:"not_found"`
	Keys     uint64 `json:"keys"` // that are left
	Written  bool   `json:"written"`
	shown    int    // keys that were named on stderr
}

// maxNamed is how many of the keys that were not found remove names.
const maxNamed = 5

func (a *app) removeCommand() *cobra.Command {
	var (
		in  inputFlags
		all bool
	)
	c := &cobra.Command{
		Use:   "remove FILE [INPUT...]",
		Short: "Take keys out of a filter file",
		Long: `Take the keys of the inputs, or of standard input, out of a filter file, each as often as it comes, and write it back, all
or nothing. Family rankindexed, with and without --counting.

Remove only what was added. A key that was not is mostly not found, but at the rate of false positives it looks like
one that is there, and takes that one out: a member would be missing. So do not remove the same list twice. A filter
that was built without --counting holds a key once, however often it came then.

Keys that are not found are counted, the first ones are named on stderr, the others are removed, and the exit code is 1.
With --all, nothing is removed unless every key was found.`,
		Example: `  bloomery remove sessions.bloom ended.txt
  echo 0-mail.com | bloomery remove --all --json blocked.bloom`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := a.take(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer f.held.Close()
			remover, ok := f.set.Filter().(filter.Remover)
			if !ok {
				return f.set.Remove(nil) // says that the family cannot
			}
			var r removed
			err = a.feed(c.Context(), in, args[1:], "removing", hashing(f.set), func(b *keyio.Batch) error {
				for i, h := range b.Hashes {
					switch err := remover.Remove(h); {
					case err == nil:
						r.Removed++
					case errors.Is(err, filter.ErrNotFound):
						r.name(a, b.Keys[i])
					default:
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			left := f.set.Info().Keys
			switch {
			case all && r.NotFound > 0:
				left += r.Removed // as it was
				r.Removed = 0
			case r.Removed > 0:
				if err := f.replace(c.Context()); err != nil {
					return err
				}
				r.Written = true
			}
			r.Keys = left
			if err := a.printRemoved(f, r); err != nil {
				return err
			}
			if r.NotFound > 0 {
				return errNo
			}
			return nil
		},
	}
	in.register(c)
	c.Flags().BoolVar(&all, "all", false, "remove nothing unless every key is found")
	return c
}

// name counts a key that was not found, and names the first ones.
func (r *removed) name(a *app, key []byte) {
	r.NotFound++
	if r.shown < maxNamed && !a.quiet {
		r.shown++
		fmt.Fprintf(a.stderr, "bloomery: not found: %s\n", key)
	}
}

func (a *app) printRemoved(f *taken, r removed) error {
	if a.json {
		return a.printJSON(r)
	}
	if a.quiet {
		return nil
	}
	return r.write(a.stderr, f.path)
}

func (r removed) write(w io.Writer, path string) error {
	text := fmt.Sprintf("%s: %d keys removed, %d not found, %d left", path, r.Removed, r.NotFound, r.Keys)
	if !r.Written {
		text += "; the file is as it was"
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
