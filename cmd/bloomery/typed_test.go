package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestForms asks filters that store the form of their keys, with every command that reads keys for an existing filter.
// The form is a type or --trim and --lower. A command that does not apply it has false negatives.
func TestForms(t *testing.T) {
	forms := map[string]struct {
		form    filter.KeyForm
		members string // in the text form of the input, one a line
		first   string // the first of them
	}{
		"int64":      {filter.KeyForm{Type: filter.KeyInt64}, "5\n-6\n700\n", "5"},
		"int32":      {filter.KeyForm{Type: filter.KeyInt32}, "5\n-6\n700\n", "5"},
		"trim,lower": {filter.KeyForm{Trim: true, Lower: true}, " Ann\nBOB \ncid\n", "Ann"},
	}
	for name, c := range forms {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			counting, values := filepath.Join(dir, "counting.bloom"), filepath.Join(dir, "values.bloom")
			for path, spec := range map[string]string{
				counting: "rankindexed(capacity=100,counting=1,fpr=1e-9)",
				values:   "rankindexed(capacity=100,fpr=1e-9,value_bits=8)",
			} {
				set, err := bloomery.New(bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{Form: c.form}})
				if err == nil {
					err = set.Save(context.Background(), path)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			list := filepath.Join(dir, "list")
			if err := os.WriteFile(list, []byte(c.members), 0o600); err != nil {
				t.Fatal(err)
			}

			lower := func(s string) string { // as printed by count and get, which cut and lower the keys of such a filter
				if !c.form.Trim {
					return s
				}
				lines := strings.Split(strings.ToLower(s), "\n")
				for i := range lines {
					lines[i] = strings.Join(strings.Fields(lines[i]), "\t")
				}
				return strings.Join(lines, "\n")
			}
			ones := lower("1\t" + strings.ReplaceAll(strings.TrimSpace(c.members), "\n", "\n1\t") + "\n")
			pairs := strings.ReplaceAll(strings.TrimSuffix(c.members, "\n"), "\n", "\t7\n") + "\t7\n"
			moved := strings.ReplaceAll(pairs, "\t7", "\t9")
			for _, s := range []struct {
				stdin string
				args  []string
				want  string // the output, or "" if it does not matter
			}{
				{c.members, []string{"add", counting}, ""},
				{c.members, []string{"check", "-c", counting}, "3\n"},
				{"", []string{"check", "-c", counting, "-e", c.first}, "1\n"},
				{c.members, []string{"count", counting}, ones},
				{"", []string{"verify", counting, "--members", list}, ""},
				{c.first + "\n", []string{"add", counting}, ""},
				{"", []string{"count", counting, "-e", c.first}, lower("2\t" + c.first + "\n")},
				{c.first + "\n" + c.members, []string{"remove", counting}, ""},
				{pairs, []string{"add", values}, ""},
				{c.members, []string{"get", values}, lower(pairs)},
				{pairs, []string{"verify", values, "--members", "-"}, ""},
				{moved, []string{"put", values}, ""},
				{"", []string{"get", values, list}, lower(moved)},
				{c.members, []string{"remove", values}, ""},
			} {
				code, got := runOn(t, s.stdin, s.args...)
				if code != 0 || s.want != "" && got != s.want {
					t.Errorf("%s: exit code %d, %q, not %q", strings.Join(s.args, " "), code, got, s.want)
				}
			}

			var notes bytes.Buffer // name the key as the input does
			run(t.Context(), []string{"remove", values}, strings.NewReader(c.first+"\n"), io.Discard, &notes)
			if want := fmt.Sprintf("not found: %q", lower(c.first)); !strings.Contains(notes.String(), want) {
				t.Errorf("remove of an absent key prints %q, without %q", notes.String(), want)
			}
		})
	}
}
