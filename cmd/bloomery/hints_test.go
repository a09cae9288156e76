package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/keyio"
)

// runnable returns all commands that can be run.
func runnable(root *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Collect(maps.Values(allCommands(root))), func(c *cobra.Command) bool {
		return !c.Runnable()
	})
}

// unknownFlags returns the flags in a text that belong neither to one of the commands nor to a command that the text
// names.
func unknownFlags(root *cobra.Command, text string, commands ...*cobra.Command) (unknown []string) {
	if regexp.MustCompile(`(?i)\bbuil[dt]\b`).MatchString(text) {
		text += " bloomery build"
	}
	for _, m := range regexp.MustCompile(`bloomery((?: [a-z]+)+)`).FindAllStringSubmatch(text, -1) {
		if other, _, err := root.Find(strings.Fields(m[1])); err == nil {
			commands = append(commands, other)
		}
	}
	for _, m := range regexp.MustCompile(`(?:^|[ (])(--[a-z]+(?:-[a-z]+)*|-o\b)`).FindAllStringSubmatch(text, -1) {
		has := func(c *cobra.Command) bool {
			return c.Flag(strings.TrimLeft(m[1], "-")) != nil || m[1] == "-o" && c.Flags().ShorthandLookup("o") != nil
		}
		if !slices.Contains([]string{"--help", "--pipe"}, m[1]) && // --pipe is a flag of redis-cli
			!slices.ContainsFunc(commands, has) {
			unknown = append(unknown, m[1])
		}
	}
	return unknown
}

// TestHintFlags checks that every hint names only flags of the command that shows it.
func TestHintFlags(t *testing.T) {
	root := (&app{}).rootCommand()
	errs := []error{&keyio.KeyTooLongError{}, keyio.ErrRecordTooLong}
	for _, h := range hints {
		errs = append(errs, h.err)
	}
	for _, c := range runnable(root) {
		for _, err := range errs {
			text := hint(c, err)
			if unknown := unknownFlags(root, text, c); len(unknown) > 0 {
				t.Errorf("%s, %v: no %v in %q", c.CommandPath(), err, unknown, text)
			}
		}
	}
	for name, want := range map[string]string{
		"dedup": "Free some space. Keep the state on another disk: --state FILE.",
		"add":   "Free some space.",
		"build": "Free some space. Write to another disk: -o FILE. Put temporary files on another disk, or make " +
			"fewer: --temp-dir DIR, --memory SIZE.",
		"plan": "Free some space.",
	} {
		c, _, _ := root.Find([]string{name})
		if got := hint(c, fmt.Errorf("x: %w", syscall.ENOSPC)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestTextFlags checks the flags in all texts of the sources. In a file that defines commands, a text may name flags of
// these commands and of commands that the text names. In other files, a text may name flags of any command.
func TestTextFlags(t *testing.T) {
	root := (&app{}).rootCommand()
	all := runnable(root)
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		must(t, err)
		var commands []*cobra.Command
		var texts []string
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				key, _ := n.Key.(*ast.Ident)
				use, _ := n.Value.(*ast.BasicLit)
				if key != nil && key.Name == "Use" && use != nil {
					text, _ := strconv.Unquote(use.Value)
					commands = append(commands, slices.DeleteFunc(slices.Clone(all), func(c *cobra.Command) bool {
						return c.Use != text
					})...)
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					texts = append(texts, text)
				}
			}
			return true
		})
		if len(commands) == 0 {
			commands = all
		}
		for _, text := range texts {
			if unknown := unknownFlags(root, text, commands...); len(unknown) > 0 {
				t.Errorf("%s: no %v of its commands in %q", path, unknown, text)
			}
		}
	}
}
