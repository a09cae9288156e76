package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bloomery/bloomery/internal/filtertest"
)

// goodRows is the number of rows before a bad one. It exceeds the number of rows in all blocks that are processed at
// the same time.
const goodRows = 60_000

// dedupRows is goodRows for dedup, whose blocks are smaller.
const dedupRows = 40_000

// badKey returns a key of the tests of bad rows, and whether the filters contain it.
func badKey(i int) (key string, member bool) {
	return fmt.Sprintf("%08x.example", uint32(i)*2654435761), i%2 == 0
}

// badRowFormat is a format with its flags, a good row and the bad rows. In the columns, the key is the second and the
// time the third.
type badRowFormat struct {
	name  string
	flags []string
	row   func(key string) string
	bad   map[string]string // by kind
}

// badRowFormats returns all formats. It is a function, because every process of the command would build the long rows
// of a variable.
func badRowFormats() []badRowFormat {
	return []badRowFormat{
		{"lines", nil, func(key string) string { return key + "\n" }, map[string]string{
			"NUL byte": "a\x00b\n", "too long": strings.Repeat("x", 200) + "\n",
		}},
		{"csv", []string{"--column", "2"}, func(key string) string { return "a," + key + ",1769860800\n" }, map[string]string{
			"NUL byte": "a,b\x00,1\n", "too long": "a," + strings.Repeat("x", 200) + ",1\n", "quotes": "a,b\"c,1\n",
			"open quote": "\"a,b,1\n", "no column": "a\n", "time": "a,b,soon\n",
		}},
		{"tsv", []string{"--column", "2"}, func(key string) string { return "a\t" + key + "\t1769860800\n" },
			map[string]string{
				"NUL byte": "a\tb\t1\x00\n", "too long": "a\t" + strings.Repeat("x", 200) + "\t1\n", "no column": "a\n",
				"long row": strings.Repeat("x", 2<<20) + "\n", "time": "a\tb\tsoon\n",
			}},
		{"jsonl", []string{"--column", "k.x"}, func(key string) string {
			return `{"a":"b","3":1769860800,"k":{"x":"` + key + "\"}}\n"
		}, map[string]string{
			"NUL byte": "{\"k\":{\"x\":\"b\x00\"}}\n", "too long": `{"k":{"x":"` + strings.Repeat("x", 200) + "\"}}\n",
			"no JSON": "k.x\n", "object": "{\"k\":{\"x\":{}}}\n", "cut": "{\"k\":{\"x\":\"b\"\n",
			"long row": strings.Repeat("x", 2<<20) + "\n", "time": "{\"k\":{\"x\":\"b\"},\"3\":\"soon\"}\n",
		}},
		{"null", nil, func(key string) string { return key + "\x00" }, map[string]string{
			"too long": strings.Repeat("x", 200) + "\x00",
		}},
		{"hex", nil, func(key string) string { return hex.EncodeToString([]byte(key)) + "\n" }, map[string]string{
			"no digit": "0g\n", "odd": "abc\n", "too long": strings.Repeat("00", 200) + "\n", "NUL byte": "\x00\n",
		}},
	}
}

// badRowCommands are the commands that answer row by row. FILTER, VALUES, EXACT and STATE stand for files.
var badRowCommands = map[string][]string{
	"check": {"check", "FILTER"}, "check --json": {"check", "--json", "FILTER"},
	"count": {"count", "FILTER"}, "get": {"get", "VALUES"}, "exact check": {"exact", "check", "EXACT"},
	"dedup": {"dedup", "--fpr", "1e-9"}, "dedup --ttl": {"dedup", "--fpr", "1e-9", "--ttl", "1h", "--keys", "200k"},
}

// badRowFiles builds the filters of badRowCommands, and returns a function that names them in arguments.
func badRowFiles(t *testing.T) (named func(args []string) []string) {
	t.Helper()
	dir := t.TempDir()
	var members, all strings.Builder
	for i := range goodRows {
		key, member := badKey(i)
		fmt.Fprintln(&all, key)
		if member {
			fmt.Fprintln(&members, key)
		}
	}
	list := filepath.Join(dir, "members")
	mustWrite(t, list, members.String())
	for name, args := range map[string][]string{
		"FILTER": {"build", "--needs", "count"}, "VALUES": {"build", "--value-bits", "4"},
		"EXACT": {"exact", "build", "--members", list, "--universe", "-"},
	} {
		text := members.String()
		if name == "EXACT" {
			text = all.String()
		}
		mustRun(t, text, append(args, "-o", filepath.Join(dir, name))...)
	}
	return func(args []string) []string {
		args = append([]string(nil), args...)
		for i, arg := range args {
			if arg != "" && arg == strings.ToUpper(arg) && filepath.Base(arg) == arg && arg[0] != '-' {
				args[i] = filepath.Join(dir, arg)
			}
		}
		return args
	}
}

// TestBeforeBadRow checks that each command that answers row by row prints the answers for all rows before a bad one
// and nothing after, names the row, and ends with exit code 2. The inputs are one file, or a file and standard input,
// in turn.
func TestBeforeBadRow(t *testing.T) {
	named, runs := badRowFiles(t), filtertest.Third(t, *long)
	dir, oneFile := t.TempDir(), false
	for _, format := range badRowFormats() {
		var first, rest strings.Builder
		for i := range goodRows {
			key, _ := badKey(i)
			if i < goodRows/2 {
				first.WriteString(format.row(key))
			} else {
				rest.WriteString(format.row(key))
			}
		}
		half, file := filepath.Join(dir, "half"), filepath.Join(dir, "file")
		mustWrite(t, half, first.String())
		good := zipped(func(*testing.T) []byte { return []byte(first.String() + rest.String()) })(t)
		after := strings.Repeat(format.row("after"), 1000)
		ends := map[string]string{}
		for kind, row := range format.bad {
			ends[kind] = row + after
		}
		for name, args := range badRowCommands {
			if !runs() {
				continue
			}
			args = append(named(args), append(format.flags, "--input-format", format.name, "--max-key-bytes", "100")...)
			if strings.HasSuffix(name, "--ttl") && format.flags != nil {
				args = append(args, "--time-column", "3")
			}
			code, want := runOn(t, first.String()+rest.String(), args...)
			if code != exitOK || want == "" {
				t.Fatalf("%s, %s: exit code %d and %d bytes for good rows", name, format.name, code, len(want))
			}
			check := func(kind, says string, stdin io.Reader, inputs ...string) {
				t.Helper()
				var out, errs bytes.Buffer
				code := run(t.Context(), append(append([]string(nil), args...), inputs...), stdin, &out, &errs)
				if code != exitError || !strings.Contains(errs.String(), says) {
					t.Errorf("%s, %s, %s: exit code %d, error %q, want %q", name, format.name, kind, code, errs.String(),
						says)
				}
				if got := out.String(); got != want {
					t.Errorf("%s, %s, %s: %d lines, want %d, the same: %t", name, format.name, kind,
						strings.Count(got, "\n"), strings.Count(want, "\n"), strings.HasPrefix(want, got))
				}
			}
			for kind, end := range ends {
				if kind == "time" && !strings.HasSuffix(name, "--ttl") {
					continue
				}
				if oneFile = !oneFile; !oneFile {
					check(kind, fmt.Sprintf("standard input:%d:", goodRows/2+1), strings.NewReader(rest.String()+end),
						"--bad-rows", "stop", half, "-")
					continue
				}
				mustWrite(t, file, first.String()+rest.String()+end)
				check(kind, fmt.Sprintf("%s:%d:", file, goodRows+1), nil, "--bad-rows", "stop", file)
			}
			for says, more := range map[string]string{
				"gzip data ends too early": "\x00", "reading it as gzip": "\xff\xff\xff",
			} {
				z := append(bytes.Clone(good), "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"+more...)
				mustWrite(t, file, z)
				check("damaged", says, nil, file)
			}
			broken := iotest.ErrReader(errors.New("broken pipe"))
			part := strings.TrimRight(format.row("part"), "\n\x00")
			check("read error", "broken pipe", io.MultiReader(strings.NewReader(rest.String()+part), broken), half, "-")
		}
	}
}

// TestSkipBadRows checks that with --bad-rows skip, each command answers all rows except the bad ones, and prints their
// number and the first of them.
func TestSkipBadRows(t *testing.T) {
	named, runs := badRowFiles(t), filtertest.Third(t, *long)
	for _, format := range badRowFormats() {
		var good, all strings.Builder
		bad := 0
		for i := range 20_000 {
			key, _ := badKey(i)
			good.WriteString(format.row(key))
			all.WriteString(format.row(key))
			if i%1000 != 999 {
				continue
			}
			for kind, row := range format.bad {
				if kind != "time" && kind != "open quote" { // a row with an open quote has no known end
					all.WriteString(row)
					bad++
				}
			}
		}
		for name, args := range badRowCommands {
			if !runs() {
				continue
			}
			args = append(named(args), append(format.flags, "--input-format", format.name, "--max-key-bytes", "100")...)
			_, want := runOn(t, good.String(), args...)
			var out, errs bytes.Buffer
			code := run(t.Context(), append(args, "--bad-rows", "skip"), strings.NewReader(all.String()), &out, &errs)
			if code != exitOK || out.String() != want {
				t.Errorf("%s, %s: exit code %d, %d lines, want %d: %s", name, format.name, code,
					strings.Count(out.String(), "\n"), strings.Count(want, "\n"), errs.String())
			}
			says := fmt.Sprintf("left out: %d; the first: standard input:1001:", bad)
			if !strings.Contains(errs.String(), says) {
				t.Errorf("%s, %s: %q, want %q", name, format.name, errs.String(), says)
			}
		}
	}
}

// TestContinueAfterBadRow checks that the state of a run that ends at a bad row contains exactly the rows that were
// printed. A second run from the row after the bad one prints the rest.
func TestContinueAfterBadRow(t *testing.T) {
	runs := filtertest.Third(t, *long)
	for _, flags := range [][]string{nil, {"--ttl", "24h", "--keys", "300k"}} {
		for _, format := range badRowFormats() {
			var before, after strings.Builder
			for i := range dedupRows {
				key, _ := badKey(i % (dedupRows * 3 / 4)) // some lines are repeated
				to := &before
				if i >= dedupRows*2/3 {
					to = &after
				}
				to.WriteString(format.row(key))
			}
			for kind, row := range format.bad {
				if !runs() {
					continue
				}
				args := []string{"dedup", "--fpr", "1e-9", "--input-format", format.name, "--max-key-bytes", "100"}
				args = append(append(args, flags...), format.flags...)
				if kind == "time" && flags == nil {
					continue
				} else if kind == "time" {
					args = append(args, "--time-column", "3")
				}
				_, want := runOn(t, before.String()+after.String(), args...)
				args = append(args, "--state", filepath.Join(t.TempDir(), "seen.state"))
				code, first := runOn(t, before.String()+row+after.String(), append(args, "--bad-rows", "stop")...)
				second, rest := runOn(t, after.String(), args...)
				if code != exitError || second != exitOK || first+rest != want {
					t.Errorf("%q, %s, %s: exit codes %d and %d, %d and %d lines, want %d", flags, format.name, kind, code,
						second, strings.Count(first, "\n"), strings.Count(rest, "\n"), strings.Count(want, "\n"))
				}
			}
		}
	}
}

// TestBadRowWritesNothing checks that commands that write a file leave it unchanged if the last row of their input is
// bad.
func TestBadRowWritesNothing(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	good := trialKeys("key", 1000)
	for name, args := range map[string][]string{
		"set": {"build", "--needs", "remove"}, "values": {"build", "--spec", "rankindexed", "--value-bits", "8"},
		"exact": {"exact", "build", "--members", "-", "--universe", path("list")},
	} {
		mustWrite(t, path("list"), good)
		mustRun(t, good, append(args, "-o", path(name))...)
	}
	many := trialKeys("key", goodRows)
	for _, args := range [][]string{
		{"build", "-o", path("set")}, {"build", "--shards", "2", "-o", path("folder")}, {"add", path("set")},
		{"remove", path("set")}, {"put", path("values")}, {"optimize", path("set"), "--keys", "-"},
		{"exact", "build", "-o", path("exact"), "--members", "-", "--universe", path("list")},
		{"exact", "update", "--base", path("exact"), "-o", path("exact"), "--universe", "-", "--members", path("list")},
	} {
		list := many
		if args[0] == "put" {
			list = strings.ReplaceAll(many, "\n", "\t1\n")
		}
		for _, bad := range []string{"a\x00b\n", strings.Repeat("x", 2<<20) + "\n"} {
			was := treeOf(t, dir)
			if code, _ := runOn(t, list+bad, args...); code != exitError {
				t.Errorf("%v: exit code %d", args, code)
			}
			if got := treeOf(t, dir); !maps.Equal(got, was) {
				t.Errorf("%v: the files have changed", args)
			}
		}
	}
}

// TestBehindGzip checks that trailing bytes after gzip data are an error that names the cause, after the rows of the
// data were answered.
func TestBehindGzip(t *testing.T) {
	rows := keyList(0, 10)
	for behind, want := range map[string]int{"garbage\n": exitError, "\x00\x00x": exitError, "\x00\x00": exitOK} {
		var out, errs bytes.Buffer
		in := io.MultiReader(bytes.NewReader(zipped(rows)(t)), strings.NewReader(behind))
		code := run(t.Context(), []string{"dedup"}, in, &out, &errs)
		if code != want || out.String() != string(rows(t)) ||
			want == exitError && !strings.Contains(errs.String(), "other bytes behind the gzip data") {
			t.Errorf("%q: exit code %d, %d bytes, %s", behind, code, out.Len(), errs.String())
		}
	}
}

// keyList returns lines of keys.
func keyList(from, to int) func(*testing.T) []byte {
	return func(*testing.T) (lines []byte) {
		for i := from; i < to; i++ {
			lines = fmt.Appendf(lines, "key-%d\n", i)
		}
		return lines
	}
}

// zipped compresses what content returns.
func zipped(content func(*testing.T) []byte) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(content(t)); err != nil {
			t.Fatal(err)
		}
		must(t, w.Close())
		return b.Bytes()
	}
}
