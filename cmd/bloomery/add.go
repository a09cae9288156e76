package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// load reads a filter file into memory of our own.
func (a *app) load(path string) (*bloomery.Set, error) {
	o, err := a.options()
	if err != nil {
		return nil, err
	}
	s, err := container.ReadFile(path, o)
	if err != nil {
		return nil, err
	}
	return bloomery.NewSet(s.Filter, s.Hasher), nil
}

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

// hold opens a filter file to change it, and describes it. Where the system has locks, another process that would hold it
// waits until it is closed.
func (a *app) hold(ctx context.Context, path string) (*os.File, fs.FileInfo, error) {
	switch st, err := os.Stat(path); {
	case err != nil:
		return nil, nil, err
	case !st.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err := mayCreate(path); err != nil {
		return nil, nil, err
	}
	for waited := false; ; waited = true {
		f, was, err := tryHold(path)
		if f != nil || err != nil {
			return f, was, err
		}
		if !waited && !a.quiet {
			fmt.Fprintf(a.stderr, "bloomery: waiting for another process that adds to %s\n", path)
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tryHold returns no file if another process holds it, or has just replaced it.
func tryHold(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	was, err := f.Stat()
	if err == nil && !locked(f) {
		if now, err := os.Stat(path); err == nil && os.SameFile(was, now) {
			return f, was, nil
		}
	}
	_ = f.Close()
	return nil, nil, err
}

func (a *app) addCommand() *cobra.Command {
	var in inputFlags
	c := &cobra.Command{
		Use:   "add FILE [INPUT...]",
		Short: "Add keys to a filter file",
		Long: `Add the keys of the inputs, or of standard input, to a filter file and write it back, all or nothing. Its size stays,
so its rate of false positives rises with every key; bloomery info tells. All families but fuse; dleft
until it is full, with the capacity= it was built for.
A second add to the same file waits for the first. If the file changes otherwise meanwhile, nothing is added: exit code 2.`,
		Example: "  bloomery add blocked.bloom new-entries.txt",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			held, was, err := a.hold(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer held.Close()
			set, err := a.load(args[0])
			if err != nil {
				return err
			}
			adder, ok := set.Filter().(filter.Adder)
			keyed, asks := set.Filter().(filter.KeyFilter)
			if !ok && !asks {
				return set.Add(nil) // says that the family cannot
			}
			input, p, err := a.follow(in, args[1:], "adding")
			if err != nil {
				return err
			}
			hasher := set.Hasher()
			err = input.Process(c.Context(), 0, func(_ int, b *keyio.Batch) error {
				if asks {
					return nil
				}
				for _, k := range b.Keys {
					b.Hashes = append(b.Hashes, hasher.Sum(k))
				}
				return nil
			}, func(b *keyio.Batch) error { // one goroutine: a plain filter has one writer
				if asks {
					p.keys.Add(int64(len(b.Keys)))
					return addKeys(keyed, b.Keys)
				}
				for _, h := range b.Hashes {
					if err := adder.Add(h); err != nil {
						return err
					}
				}
				p.keys.Add(int64(len(b.Hashes)))
				return nil
			})
			p.end()
			if err != nil {
				return err
			}
			if err := container.ReplaceFile(c.Context(), args[0], set.Filter(), hasher, was); err != nil {
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
