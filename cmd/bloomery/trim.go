package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

// trimmed is what trim reports.
type trimmed struct {
	Keys        uint64  `json:"keys"`
	BytesBefore uint64  `json:"bytes_before"` // of the file
	BytesAfter  uint64  `json:"bytes_after"`
	BitsBefore  float64 `json:"bits_per_key_before"` // of the file
	BitsAfter   float64 `json:"bits_per_key_after"`
	Trimmed     bool    `json:"trimmed"`
}

func (a *app) trimCommand() *cobra.Command {
	var (
		output string
		full   bool
	)
	c := &cobra.Command{
		Use:   "trim FILE",
		Short: "Write a filter file without what it keeps free, to send it",
		Long: `Write a filter file in its trimmed form, all or nothing: without the room that it has for further keys. Every command reads
it as the filter that it was, in the memory that this had; what add, remove and put write back is in full again, and
trim --full writes that without a change. Family rankindexed.`,
		Example: `  bloomery trim -o small.bloom sessions.bloom
  bloomery trim --full -o sessions.bloom small.bloom`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			path := args[0]
			if output == "" {
				output = path
			}
			inPlace := sameFile(path, output)
			if !inPlace {
				if err := mayReplace(output); err != nil {
					return err
				}
			}
			f := &taken{path: path}
			if inPlace { // nobody may add meanwhile
				var err error
				if f, err = a.take(c.Context(), path); err != nil {
					return err
				}
				defer f.held.Close()
			}
			o, err := a.options()
			if err != nil {
				return err
			}
			before, err := container.ReadFile(path, o)
			if err != nil {
				return err
			}
			whole := bloomery.NewSet(before.Filter, before.Hasher)
			small, err := whole.Trimmed()
			if err != nil {
				return &advised{err, "Family rankindexed has one; others keep no room free."}
			}
			f.set = small
			if full {
				f.set = whole
			} else if err := readsBack(small); err != nil {
				return err
			}
			if inPlace {
				err = f.replace(c.Context())
			} else {
				err = f.set.Save(c.Context(), output)
			}
			if err != nil {
				return err
			}
			r := trimmed{Keys: whole.Info().Keys, BytesBefore: before.FileBytes, Trimmed: !full}
			return a.printTrimmed(output, r)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "file to write instead of FILE")
	c.Flags().BoolVar(&full, "full", false, "write the full form again")
	return c
}

// sameFile reports whether two names are those of one file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// readsBack returns an error if what would be written could not be read again: what a file may become is bounded by its
// size, and a geometry that somebody made by hand may be beyond that while it is almost empty.
func readsBack(small *bloomery.Set) error {
	e := small.Filter().(filter.Encoder).Encode()
	family, err := families.ByName(e.Spec.Family())
	if err == nil {
		_, err = family.Decode(e)
	}
	return err
}

func (a *app) printTrimmed(path string, r trimmed) error {
	if a.quiet {
		return nil
	}
	after, err := a.report(path)
	if err != nil {
		return err
	}
	r.BytesAfter = after.FileBytes
	if r.Keys > 0 {
		r.BitsBefore, r.BitsAfter = 8*float64(r.BytesBefore)/float64(r.Keys), 8*float64(r.BytesAfter)/float64(r.Keys)
	}
	if a.json {
		return a.printJSON(r)
	}
	_, err = fmt.Fprintf(a.stderr, "%s: %d keys, %s (before %s), %.4g bits a key in the file (before %.4g)\n",
		path, r.Keys, bytesText(r.BytesAfter), bytesText(r.BytesBefore), r.BitsAfter, r.BitsBefore)
	return err
}
