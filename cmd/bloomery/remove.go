package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// removed is the report of remove.
type removed struct {
	Removed  uint64 `json:"removed"`
	NotFound uint64 `json:"not_found"`
	Keys     uint64 `json:"keys"` // that are left
	Written  bool   `json:"written"`
	shown    int    // keys that were named on stderr
}

// maxNamed is the number of missing keys that remove prints.
const maxNamed = 5

func (a *app) removeCommand() *cobra.Command {
	var in inputFlags
	var all bool
	c := &cobra.Command{
		Use:   "remove FILE [INPUT...]",
		Short: "Remove keys from a filter file",
		Long: `Remove the keys of the inputs, or of standard input, from a filter file, each as often as it comes, and
write it back, all or nothing. Families: ` + strings.Join(families.With(filter.CanRemove), ", ") + `.

Remove only what was added. A key that was never added is mostly not found, but at the false-positive rate it looks
like a key that is there, and removes that one: a member would be missing. So do not remove the same list twice. A
filter that was built without --counting may hold a key once, however often it came in the build.

Keys that are not found are counted, the first ones are named on stderr, the others are removed, and the exit code is
1. With --all, nothing is removed unless every key was found.`,
		Example: `  bloomery build -o sessions.bloom --needs remove --capacity 1M sessions.txt
  bloomery remove sessions.bloom ended.txt
  echo key-77 | bloomery remove --all --json sessions.bloom`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := a.lock(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			r, err := a.remove(c.Context(), in, l.Set, args[1:])
			if err != nil {
				return err
			}
			r.Keys = l.Len()
			if all && r.NotFound > 0 {
				r.Keys, r.Removed = r.Keys+r.Removed, 0 // the file is unchanged
			}
			if r.Removed > 0 {
				if err := l.Replace(c.Context()); err != nil {
					return err
				}
				r.Written = true
			}
			return a.printRemoved(args[0], r)
		},
	}
	in.register(c)
	c.Flags().BoolVar(&all, "all", false, "remove nothing unless every key is found")
	return c
}

// remove removes the keys of the inputs from a set.
func (a *app) remove(ctx context.Context, in inputFlags, set *bloomery.Set, inputs []string) (r removed, err error) {
	if _, ok := set.Filter().(filter.Remover); !ok {
		return r, families.Lacks(set.Spec(), filter.CanRemove)
	}
	err = a.pass(ctx, in, inputs, "removing", hashing(set), func(b *keyio.Batch) error {
		for i, h := range b.Hashes {
			switch err := set.RemoveHash(h); {
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
	return r, err
}

// name counts a key that was not found, and names it on stderr if it is one of the first.
func (r *removed) name(a *app, key []byte) {
	r.NotFound++
	if r.shown < maxNamed && !a.quiet {
		r.shown++
		fmt.Fprintf(a.stderr, "bloomery: not found: %q\n", key)
	}
}

// printRemoved prints the report. It returns errNo if a key was not found.
func (a *app) printRemoved(path string, r removed) (err error) {
	switch {
	case a.json:
		err = a.printJSON(r)
	case a.quiet:
	default:
		text := fmt.Sprintf("%s: %d keys removed, %d not found, %d left", path, r.Removed, r.NotFound, r.Keys)
		if !r.Written {
			text += "; the file is as it was"
		}
		_, err = fmt.Fprintln(a.stderr, text)
	}
	if err == nil && r.NotFound > 0 {
		err = errNo
	}
	return err
}
