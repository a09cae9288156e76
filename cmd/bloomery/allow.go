package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/keyio"
)

type allowFlags struct {
	lists     []string
	conflicts bool
}

func (f *allowFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.lists, "allow", nil,
		"`LIST`: keys that must not be found; repeatable")
	c.Flags().BoolVar(&f.conflicts, "conflicts", false,
		"print all keys of --allow that are also in the inputs")
}

// check returns an error if the lists cannot be read in addition to the inputs.
func (f *allowFlags) check() error {
	switch {
	case slices.Contains(f.lists, stdio):
		return errors.New("--allow -: the list is read after the keys; name a file")
	case f.conflicts && len(f.lists) == 0:
		return errors.New("--conflicts needs --allow FILE")
	}

	for _, path := range f.lists {
		in, err := keyio.Open([]string{path}, keyio.Options{})
		if err == nil && in.Size() == 0 { // a download that failed must not make a filter that is exact for nothing
			err = fmt.Errorf("%s is empty", path)
		}
		if err != nil {
			return fmt.Errorf("--allow: %w", err)
		}
	}
	return nil
}

// errStop ends a pass early without an error.
var errStop = errors.New("stop")

// allow sets the list of a build. failed returns the error of the last pass over it. If a list is a pipe, later passes
// yield no keys.
func (a *app) allow(ctx context.Context, f allowFlags, in inputFlags, c *bloomery.Config) (failed func() error) {
	var err error
	failed = func() error { return err }
	if len(f.lists) == 0 {
		return failed
	}

	again := false
	c.Allow = func(yield func([]byte) bool) {
		if again && slices.ContainsFunc(f.lists, isPipe) {
			return
		}
		again = true
		err = a.pass(ctx, in, f.lists, "allowed keys", nil, func(b *keyio.Batch) error {
			for _, key := range b.Keys {
				if !yield(key) {
					return errStop
				}
			}
			return nil
		})
		if errors.Is(err, errStop) {
			err = nil
		}
	}
	return failed
}

// isPipe reports whether a path names a pipe or device, which cannot be read twice.
func isPipe(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.Mode().IsRegular() && !st.IsDir()
}

// listConflicts prints the keys of an error that are members and allowed, if the flags request them.
func (a *app) listConflicts(f *buildFlags, err error) error {
	var both *filter.AllowedError
	if !f.allow.conflicts || !errors.As(err, &both) {
		return err
	}
	for _, key := range both.Keys {
		if _, err := io.WriteString(a.stdout, f.in.key([]byte(key))+"\n"); err != nil {
			return err
		}
	}
	return err
}
