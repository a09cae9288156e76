package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// notWithKey are flags for inputs, which exclude -e.
var notWithKey = []string{"column", "delimiter", "comments", "header", "keep-empty", "max-key-bytes", "bad-rows"}

// keyFlag adds -e, for commands that answer row by row. Their arguments are FILE and then inputs, unless keys are
// given.
func (f *inputFlags) keyFlag(c *cobra.Command) {
	c.Flags().StringArrayVarP(&f.keys, "key", "e", nil, "`KEY`: key to ask for, in place of inputs; repeatable")
	for _, name := range notWithKey {
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

// given returns the keys of -e, with the arguments as rows: the bytes of each argument, or with --input-format hex those
// that its digits stand for.
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
		key = keyio.Prepare(key, o.Trim, o.Lower)
		if len(key) == 0 { // an unset shell variable
			return nil, errors.New("-e: the key is empty")
		}
		b.Keys = append(b.Keys, key)
		b.Rows = append(b.Rows, append([]byte(text), f.end()))
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

	if err := in.typed(b); err != nil {
		return err
	}
	if err := work(b); err != nil {
		return err
	}
	return emit(b)
}

// adviseKey returns a hint if files that do not exist may be meant as keys, or "". line is the command line behind the
// name of the program.
func adviseKey(c *cobra.Command, line []string, err error) string {
	var absent *fs.PathError
	args := c.Flags().Args()
	if !errors.As(err, &absent) || !errors.Is(absent, fs.ErrNotExist) ||
		len(args) < 2 || !slices.Contains(args, absent.Path) {
		return ""
	}

	file, words, advice := args[0], slices.DeleteFunc(slices.Clone(args[1:]), exists), "Is it a key? Ask with -e: "
	if absent.Path == file {
		if !isFilter(args[1]) {
			return ""
		}
		file, words, advice = args[1], args[:1], "FILE comes first, and keys behind -e: "
	}
	switch key := c.Flags().Lookup("key"); {
	case slices.Contains([]string{"add", "put", "remove"}, c.Name()):
		return "Is it a key? Pipe it: " + pipeOf(c, shellQuoted(words[0])) + withKeys(line, args, file, nil)
	case key == nil || key.Shorthand == "" || slices.ContainsFunc(notWithKey, c.Flags().Changed):
		return ""
	}
	if keyio.Format(c.Flag("input-format").Value.String()).HasColumns() {
		return ""
	}
	return advice + withKeys(line, args, file, words)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path == stdio || err == nil
}

// withKeys returns a command line for a shell: line, with keys behind -e in place of all arguments other than file.
func withKeys(line, args []string, file string, keys []string) string {
	var words []string
	for _, word := range slices.Backward(line) { // a flag's value that equals an argument mostly comes before it
		if last := len(args) - 1; last >= 0 && word == args[last] {
			if args = args[:last]; word != file {
				continue
			}
		}
		if word != "--" {
			words = append(words, shellQuoted(word))
		}
	}

	words = append(words, "bloomery")
	slices.Reverse(words)
	for _, key := range keys {
		words = append(words, "-e", shellQuoted(key))
	}
	return strings.Join(words, " ")
}

// shellQuoted returns a word as a POSIX shell reads it.
func shellQuoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[-\w@%+=:,./]+$`)

// isFilter reports whether the file at path begins as a filter file does.
func isFilter(path string) bool {
	f, _, err := untrusted.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return container.HasMagic(f)
}

// pipeOf returns the beginning of a pipe that gives a key to a command that changes a filter.
func pipeOf(c *cobra.Command, key string) string {
	if c.Name() == "put" {
		return `printf 'KEY\tVALUE\n' | `
	}
	return "echo " + key + " | "
}

// withoutKeyFlag makes the error of -e explain where the keys of a command that changes a filter come from.
func withoutKeyFlag(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && unknown.GetSpecifiedName() == "e" {
			return cli.Advise(fmt.Errorf("%s has no flag -e: keys come from inputs or from standard input", c.Name()),
				pipeOf(c, "KEY")+c.CommandPath()+" FILE")
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
