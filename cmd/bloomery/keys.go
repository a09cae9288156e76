package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// keyFlag adds -e, for commands that answer row by row. Their arguments are FILE and then inputs, unless keys are
// given.
func (f *inputFlags) keyFlag(c *cobra.Command) {
	c.Flags().StringArrayVarP(&f.keys, "key", "e", nil, "`KEY`: key to ask for, in place of inputs; repeatable")
	for _, name := range []string{"column", "delimiter", "header", "keep-empty", "max-key-bytes", "bad-rows"} {
		c.MarkFlagsMutuallyExclusive("key", name)
	}
	c.Args = f.keysOrInputs
}

// keysOrInputs checks the arguments of a command with -e.
func (f *inputFlags) keysOrInputs(c *cobra.Command, args []string) error {
	if len(args) > 1 && len(f.keys) > 0 {
		return cli.Advise(fmt.Errorf("keys come from -e or from inputs such as %s, not from both", args[1]),
			"Usage: "+c.CommandPath()+" FILE -e KEY")
	}
	return cobra.MinimumNArgs(1)(c, args)
}

// given returns the keys of -e: the bytes of each argument, or with --input-format hex those that its digits stand for.
func (f *inputFlags) given() (*keyio.Batch, error) {
	if f.columns() {
		return nil, fmt.Errorf("-e: a key has no columns; leave out --input-format %s", f.format)
	}
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	if _, err := keyio.OpenReader("-e", strings.NewReader(""), o); err != nil { // checks the options
		return nil, f.flagged(err)
	}

	b := &keyio.Batch{Input: "-e", Line: 1}
	for _, text := range f.keys {
		key := []byte(text)
		if f.format == string(keyio.Hex) {
			if key, err = hex.DecodeString(text); err != nil {
				return nil, fmt.Errorf("-e %q: %w", text, err)
			}
		}
		if len(key) == 0 { // an unset shell variable
			return nil, errors.New("-e: the key is empty")
		}
		b.Keys = append(b.Keys, key)
	}
	return b, nil
}

// passGiven calls work and then emit with the keys of -e.
func (a *app) passGiven(ctx context.Context, in inputFlags, work, emit func(*keyio.Batch) error) error {
	b, err := in.given()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if err := work(b); err != nil {
		return err
	}
	return emit(b)
}

// adviseKey returns a hint if a file that does not exist may be meant as a key, or "".
func adviseKey(c *cobra.Command, err error) string {
	var missing *fs.PathError
	args := c.Flags().Args()
	if !errors.As(err, &missing) || !errors.Is(missing, fs.ErrNotExist) || c.Flags().Lookup("key") == nil ||
		c.Flags().ShorthandLookup("e") == nil || len(args) < 2 || !slices.Contains(args, missing.Path) {
		return ""
	}
	if missing.Path == args[0] {
		if !isFilter(args[1]) {
			return ""
		}
		return fmt.Sprintf("FILE comes first, and keys behind -e: %s %s -e %s", c.CommandPath(), args[1], args[0])
	}
	return fmt.Sprintf("Is it a key? Ask with -e: %s %s -e %s", c.CommandPath(), args[0], missing.Path)
}

// isFilter reports whether the file at path begins as a filter file does.
func isFilter(path string) bool {
	f, _, err := untrusted.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return container.HasMagic(f)
}

// withoutKeyFlag makes the error of -e explain where the keys of a command that changes a filter come from.
func withoutKeyFlag(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && unknown.GetSpecifiedName() == "e" {
			return cli.Advise(fmt.Errorf("%s has no flag -e: keys come from inputs or from standard input", c.Name()),
				fmt.Sprintf("echo KEY | %s FILE", c.CommandPath()))
		}
		return c.Root().FlagErrorFunc()(c, err)
	})
}

// advisePublished returns a hint if the folder of a publisher was named in place of a filter, or "".
func advisePublished(c *cobra.Command, err error) string {
	args := c.Flags().Args()
	if !errors.Is(err, filter.ErrNoManifest) || len(args) == 0 {
		return ""
	}
	if _, err := os.Stat(filepath.Join(args[0], "release.json")); err != nil {
		return ""
	}
	return fmt.Sprintf("It is a published folder: bloomery follow %s -o FILE --once writes its filter to FILE.", args[0])
}
