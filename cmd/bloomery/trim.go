package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
)

func (a *app) trimCommand() *cobra.Command {
	var output string
	var full bool
	c := &cobra.Command{
		Use:   "trim FILE",
		Short: "Write a filter file in a smaller form, to send it",
		Long: `The trimmed form of a rankindexed filter has no room for further keys on disk. All commands read it; add,
remove and put write the full form again.`,
		Example: `  bloomery trim -o small.bloom sessions.bloom
  bloomery trim --full -o sessions.bloom small.bloom`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == stdio && output == "" {
				return errors.New("trim -: standard input cannot be written back; name the file to write, or -o -")
			}
			return a.trim(c.Context(), args[0], output, full)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "`FILE`: file to write instead, or -")
	c.Flags().BoolVar(&full, "full", false, "write the full form")
	return c
}

// trim writes the full or the trimmed form of a filter to a new file, or in place under the lock of the file.
func (a *app) trim(ctx context.Context, path, output string, full bool) error {
	var set *bloomery.Set
	var save func(form *bloomery.Set) error
	if output == "" || path != stdio && sameFile(path, output) {
		l, err := a.lock(ctx, path)
		if err != nil {
			return err
		}
		defer l.Close()
		output, set = path, l.Set
		save = func(form *bloomery.Set) error {
			l.Set = form
			return l.Commit(ctx)
		}
	} else {
		if err := a.mayWrite(output, path); err != nil {
			return err
		}
		var o []bloomery.Option
		if !anySharded(path) {
			o = append(o, bloomery.InMemory())
		}
		var err error
		if set, err = a.open(path, o...); err != nil {
			return err
		}
		defer set.Close()
		save = func(form *bloomery.Set) error { return a.save(ctx, form, output) }
	}

	change := (*bloomery.Set).Trimmed
	if full {
		change = (*bloomery.Set).Full
	}

	form, err := change(set)
	if err != nil {
		return err
	}
	if err := save(form); err != nil {
		return err
	}

	bytes, err := writtenBytes(form, output)
	if err != nil {
		return err
	}

	before, beforeBits, bits := set.FileInfo().Bytes, 0.0, 0.0
	if n := float64(set.Len()); n > 0 {
		beforeBits, bits = 8*float64(before)/n, 8*float64(bytes)/n
	}
	perKey := ""
	if !mostlyHeader(bytes, set.Info().Bits) {
		perKey = fmt.Sprintf(", %.4g bits per key in the file (before %.4g)", bits, beforeBits)
	}
	return a.report(object{
		{"keys", set.Len()}, {"bytes_old", before}, {"bytes_new", bytes}, // length of the file, not bits
		{"bits_per_key_old", beforeBits}, {"bits_per_key_new", bits}, {"trimmed", !full},
	}, "%s: %s, %s (before %s)%s", pathName(output), keysText(set.Len()), bytesText(bytes), bytesText(before), perKey)
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}
