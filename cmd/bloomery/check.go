package main

import (
	"context"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/keyio"
)

type checkFlags struct {
	in            inputFlags
	invert, count bool
}

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check FILE [INPUT... | -e KEY...]",
		Short: "Print the keys that are in a filter, as grep does",
		Long: `Keys are printed in the order of the inputs, as soon as they are read. The exit code is 0 if a key is
printed or counted, 1 if none is.`,
		Example: `  bloomery check disposable.bloom -e yopmail.com
  bloomery check blocked.bloom visitors.txt
  bloomery check -v known.bloom all.txt.zst > new.txt
  bloomery check -v known.bloom --input-format csv --column email users.csv
  find . -type f -print0 | bloomery check -0 files.bloom`,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.open(args[0])
			if isWindow(args[0], err) {
				w, err := a.openWindow(args[0])
				if err != nil {
					return err
				}
				hash := hashing(w.hasher)
				ask := func(hits []bool, b *keyio.Batch) {
					_ = hash(b) // it never fails
					w.ContainsMany(hits, b.Hashes)
				}
				return a.check(c.Context(), ask, func() error { return nil }, f, args[1:])
			}
			if err != nil {
				return err
			}
			defer set.Close()
			f.in.form = set.Hasher().Form()
			watch := watchValues(set, f.in)
			defer a.warnValues(args[0], watch)
			ask := func(hits []bool, b *keyio.Batch) {
				bloomery.Keyed[[]byte](set).ContainsMany(hits, b.Keys)
				for i := 0; watch != nil && i < len(hits); i++ {
					if !hits[i] {
						watch.absent(b.Keys[i])
					}
				}
			}
			return a.check(c.Context(), ask, set.Err, f, args[1:])
		},
	}
	f.register(c)
	f.in.badRows(c, keyio.Pass)
	f.in.keyFlag(c)
	return c
}

func (f *checkFlags) register(c *cobra.Command) {
	f.in.register(c)
	c.Flags().BoolVarP(&f.invert, "invert-match", "v", false, "print the keys that are not in the filter")
	c.Flags().BoolVarP(&f.count, "count", "c", false, "print only the number of keys")
}

// asker sets hits to the answers for the keys of a batch.
type asker func(hits []bool, b *keyio.Batch)

// check prints or counts the keys of the inputs that match. It returns errNo if no key matches. failed returns an error
// if the answers may be wrong.
func (a *app) check(ctx context.Context, ask asker, failed func() error, f checkFlags, inputs []string) error {
	what := "checking"
	if !f.count {
		what = a.answering(what)
	}

	f.in.rows = f.in.printsRows() && !f.count
	var selected atomic.Int64
	err := a.pass(ctx, f.in, inputs, what, func(b *keyio.Batch) error {
		selected.Add(a.answers(ask, f, b))
		return nil
	}, a.print)
	if err == nil {
		err = failed()
	}
	if n := selected.Load(); err == nil && f.count {
		err = a.answer(object{{"count", n}, {"bad_rows", a.badRows}, {"without_key", a.keyless}}, "%d\n", n)
	}
	return exitIf(selected.Load() == 0, err)
}

// answers appends the lines about a batch of keys to its output, and returns the number of keys that match.
func (a *app) answers(ask asker, f checkFlags, b *keyio.Batch) (selected int64) {
	hits := make([]bool, len(b.Keys))
	ask(hits, b)
	var printed *byte // the start of the last row, if the format has rows
	for i, hit := range hits {
		if hit != f.invert {
			selected++
		}
		// With --json print a line for each key, or with -v for each absent key.
		if f.count || hit == f.invert && (f.invert || !a.json) {
			continue
		}
		// A row with several keys is printed once.
		if f.in.rows && !a.json {
			row := &b.Rows[i][0] // every row ends in a line end
			if row == printed {
				continue
			}
			printed = row
		}
		f.in.printRow(b, i, a.json, &hits[i])
	}
	return selected
}
