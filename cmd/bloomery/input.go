package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/keyio"
)

type inputFlags struct {
	format, column     string
	delimiter          rune // 0 if not given
	header, keep, null bool
	comments           string // what a comment begins with, or ""
	trim, lower        bool
	form               filter.KeyForm               // of the keys in the set; no flag
	rows               bool                         // keep whole rows; no flag
	oneKey             bool                         // refuse rows with several keys; no flag
	second, secondFlag string                       // a second column, and the flag that names it, such as "time-column"
	maxKey             int                          // 0: the limit of keyio
	bad, normal        keyio.BadRows                // values of --bad-rows and its default; "": stop
	keys               []string                     // of -e, in place of inputs
	block              int                          // 0: the block size of keyio; no flag
	numbers            bool                         // keep line numbers; no flag
	cut                func(*keyio.Batch) error     // cuts the values off the keys, or nil; no flag
	parse              func([]byte) (uint64, error) // parses the fields of second; no flag
}

// typed cuts the values off the keys of a batch, and converts them to the type of the keys in the set, unless hex input
// gives their bytes.
func (f *inputFlags) typed(b *keyio.Batch) error {
	if f.cut != nil {
		if err := f.cut(b); err != nil {
			return err
		}
	}
	if f.format == string(keyio.Hex) {
		return nil
	}
	return b.Typed(f.form)
}

func (f *inputFlags) register(c *cobra.Command) {
	const formatHelp = "`FORMAT`: lines, fields, csv, tsv, jsonl, null or hex"
	c.Flags().StringVar(&f.format, "input-format", "lines", formatHelp)
	c.Flags().StringVar(&f.column, "column", "", "`NAME`: column of the key, or its number (default 1); in jsonl a path")
	const delimiterHelp = "`CHARACTER`: between columns of csv (default \",\") or fields (blanks)"
	c.Flags().Func("delimiter", delimiterHelp, func(s string) (err error) {
		f.delimiter, err = parseDelimiter(s)
		return err
	})
	c.Flags().BoolVar(&f.header, "header", false,
		"the first row is a header, although --column is a number")
	c.Flags().StringVar(&f.comments, "comments", "", "`TEXT`: what a comment begins with, such as '#'")
	c.Flags().BoolVar(&f.trim, "trim", false, "cut off blanks around keys")
	c.Flags().BoolVar(&f.lower, "lower", false, "read A to Z in keys as a to z")
	c.Flags().BoolVar(&f.keep, "keep-empty", false, "empty lines are keys")
	c.Flags().BoolVarP(&f.null, "null", "0", false,
		"keys end in NUL bytes, in inputs and output")
	const maxKeyHelp = "`SIZE`: longest key, up to 1GiB (default 1MiB)"
	parse(c, &f.maxKey, "max-key-bytes", maxKeyHelp, func(flag, text string) (int, error) {
		n, err := parseBytes(flag, text)
		if err == nil && n > 1<<30 {
			err = fmt.Errorf("%s %s: want at most 1GiB", flag, text)
		}
		return int(n), err
	})
	complete(c, "input-format", "lines", "fields", "csv", "tsv", "jsonl", "null", "hex")
	cli.NameFlags(c, inputTitle, "input-format", "column", "delimiter", "comments", "trim", "lower", "header",
		"keep-empty", "null", "max-key-bytes")
}

// inputTitle is the title of flags that a page of help only names.
const inputTitle = "Input flags (bloomery help inputs)"

// badRows adds --bad-rows, for commands that answer row by row. normal is the default for lines and TSV: stop or pass.
func (f *inputFlags) badRows(c *cobra.Command, normal keyio.BadRows) {
	f.normal = normal
	parse(c, &f.bad, "bad-rows", "`HOW`: stop at a bad row, or skip it", func(flag, text string) (keyio.BadRows, error) {
		if bad := keyio.BadRows(text); bad == keyio.Stop || bad == keyio.Skip {
			return bad, nil
		}
		return "", fmt.Errorf("%s %q: want stop or skip", flag, text)
	})
	complete(c, "bad-rows", string(keyio.Stop), string(keyio.Skip))
	cli.NameFlags(c, inputTitle, "bad-rows")
}

// options returns the options for keyio, which checks them. See flagged for the errors of keyio.
func (f *inputFlags) options() (keyio.Options, error) {
	o := keyio.Options{
		Format: keyio.Format(f.format), Column: f.column, Header: f.header, KeepEmpty: f.keep, Rows: f.rows, OneKey: f.oneKey,
		Delimiter: f.delimiter, MaxKey: f.maxKey, Second: f.second,
		BlockSize: f.block, BadRows: f.bad, LineNumbers: f.numbers, Parse: f.parse,
		Comments: f.comments, Trim: f.trims(), Lower: f.lower || f.form.Lower,
	}
	if f.format == string(keyio.Hex) && (f.trim || f.lower) {
		return o, errors.New("--trim, --lower: hex digits have no blanks, and either case; leave out --input-format hex")
	}
	if f.null {
		if o.Format != keyio.Lines && o.Format != keyio.Null {
			return o, fmt.Errorf("--null: keys in columns have no NUL bytes; leave out --input-format %s", f.format)
		}
		o.Format = keyio.Null
	}

	if f.bad == "" && (o.Format == keyio.Lines || o.Format == keyio.TSV || o.Format == keyio.Fields) {
		o.BadRows = f.normal
	}
	return o, nil
}

// flagged adds the name of the flag to an error about an option of keyio.
func (f *inputFlags) flagged(err error) error {
	var wrong *filter.ConfigError
	if !errors.As(err, &wrong) {
		return err
	}

	flag := wrong.Field
	switch flag {
	case "format":
		flag = "input-format"
	case "second":
		flag = f.secondFlag
	}
	return fmt.Errorf("%s: %s", strings.TrimSpace(fmt.Sprintf("--%s %v", flag, wrong.Value)), wrong.Reason)
}

// end returns the byte that ends a key in the output.
func (f *inputFlags) end() byte {
	if f.null || f.format == string(keyio.Null) {
		return 0
	}
	return '\n'
}

// appendKey appends a key in the format of the inputs: with --input-format hex in lower-case digits.
func (f *inputFlags) appendKey(to, key []byte) []byte {
	if f.format == string(keyio.Hex) {
		return hex.AppendEncode(to, key)
	}
	return append(to, key...)
}

// key is appendKey for a field of JSON.
func (f *inputFlags) key(key []byte) string { return string(f.appendKey(nil, key)) }

// rowLine is the JSON object that --json prints for a row.
type rowLine struct {
	Key       string  `json:"key"`
	Present   *bool   `json:"present,omitempty"`
	Count     *uint64 `json:"count,omitempty"`
	Saturated bool    `json:"saturated,omitempty"`
	Value     *uint64 `json:"value,omitempty"`
	Row       string  `json:"row,omitempty"`
}

// printRow appends row i to the output of a batch, unchanged or as JSON. present may be nil.
func (f *inputFlags) printRow(b *keyio.Batch, i int, json bool, present *bool) {
	switch {
	case json:
		line := rowLine{Key: f.key(b.Text(i)), Present: present}
		if f.rows {
			line.Row = strings.TrimSuffix(strings.TrimSuffix(string(b.Rows[i]), string(f.end())), "\r")
		}
		b.Out = cli.AppendJSON(b.Out, line)
	case f.rows:
		b.Out = append(b.Out, b.Rows[i]...)
	default:
		b.Out = append(f.appendKey(b.Out, b.Text(i)), f.end())
	}
}

// columns reports whether the inputs have rows.
func (f *inputFlags) columns() bool {
	return keyio.Format(f.format).HasColumns()
}

// trims reports whether blanks around keys are cut off, since a flag or the set says so.
func (f *inputFlags) trims() bool { return f.trim || f.form.Trim }

// printsRows reports whether commands print whole rows, because a key is only a part of its row or differs from it.
func (f *inputFlags) printsRows() bool {
	isPart := f.comments != "" || f.trims() || f.lower || f.form.Lower
	return f.columns() || isPart && f.format != string(keyio.Hex)
}

// source is a list of inputs with keys.
type source struct {
	*keyio.Input
	a      *app
	p      *cli.Progress // the progress of the running pass
	in     inputFlags
	passes bool // whether rows with NUL bytes count as keys
}

func (a *app) source(f inputFlags, paths []string) (*source, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	if err := a.stdinFree(paths); err != nil {
		return nil, err
	}
	if a.stdoutTaken {
		if err := a.stdoutFree(paths...); err != nil {
			return nil, err
		}
	}

	s := &source{a: a, in: f, passes: o.BadRows == keyio.Pass}
	o.Stdin, o.Progress = a.stdin, func(bytes int64) { s.p.Read.Store(bytes) }
	s.Input, err = keyio.Open(paths, o)
	return s, f.flagged(err)
}

// pass reads all keys once and shows its progress, unless what is empty. It calls work with batches from several
// goroutines, and then emit with the batches in input order from one goroutine. Both may be nil.
func (s *source) pass(ctx context.Context, what string, work, emit func(*keyio.Batch) error) error {
	s.p = s.a.bar(what, s.Size())
	defer s.warnBad()
	defer s.p.End()
	return s.Process(ctx, 0, func(_ int, b *keyio.Batch) (err error) {
		n := len(b.Keys)
		if err = s.in.typed(b); err == nil && work != nil {
			err = work(b)
		}
		if err == nil {
			s.p.Keys.Add(int64(n))
		}
		return err
	}, emit)
}

// warnBad prints how many bad rows the pass skipped or used as keys, and how many rows had no key.
func (s *source) warnBad() {
	if n, first := s.Keyless(); n > 0 {
		s.a.keyless += n
		print := s.a.note
		if s.p.Keys.Load() == 0 {
			print = s.a.warn // the name of the column may be wrong
		}
		print("rows without a key, which were left out: %d; the first: %v", n, first)
	}
	n, first := s.Bad()
	s.a.badRows += n
	switch {
	case n == 0:
	case s.passes:
		s.a.warn("rows with a NUL byte, which are keys: %d; the first: %v", n, first)
	default:
		s.a.warn("bad rows, which were left out: %d; the first: %v", n, first)
	}
}

// pass is source.pass for inputs that are read only once, or for the keys of -e.
func (a *app) pass(
	ctx context.Context, in inputFlags, paths []string, what string, work, emit func(*keyio.Batch) error,
) error {
	if len(in.keys) > 0 {
		return a.passGiven(ctx, in, work, emit)
	}
	s, err := a.source(in, paths)
	if err != nil {
		return err
	}
	return s.pass(ctx, what, work, emit)
}

// feed passes all keys to keys, or keys with values, if parse finds them, to withValues, and then batches to emit. parse
// and emit may be nil.
func (s *source) feed(ctx context.Context, what string, parse parseValues, keys func([][]byte) error,
	withValues func([][]byte, []uint64) error, emit func(*keyio.Batch) error) error {
	s.in.cut = parse
	defer func() { s.in.cut = nil }() // other passes have a parse of their own
	return s.pass(ctx, what, func(b *keyio.Batch) error {
		if len(b.Values) > 0 {
			return withValues(b.Keys, b.Values)
		}
		return keys(b.Keys)
	}, emit)
}

// count returns the number of keys. parse, if not nil, may drop lines.
func (s *source) count(ctx context.Context, parse parseValues) (uint64, error) {
	s.p = s.a.bar("counting", s.Size())
	defer s.p.End()
	if parse == nil {
		return s.Count(ctx)
	}

	var total atomic.Uint64
	err := s.Process(ctx, 0, func(_ int, b *keyio.Batch) error {
		err := parse(b)
		total.Add(uint64(len(b.Keys)))
		return err
	}, nil)
	return total.Load(), err
}

// print writes the output of a batch immediately, since the sender of the keys may wait for each answer. If rows are
// kept, it first writes the header row.
func (a *app) print(b *keyio.Batch) error {
	if len(b.Header) > 0 && !a.json {
		if _, err := a.stdout.Write(b.Header); err != nil {
			return err
		}
	}
	if len(b.Out) == 0 {
		return nil
	}
	_, err := a.stdout.Write(b.Out)
	return err
}

// answering reserves standard output for lines that are printed while inputs are read. It returns the text of the
// progress bar, or "" for no bar if the output is a terminal, since the lines themselves then show the progress.
func (a *app) answering(what string) string {
	a.stdoutTaken = true
	if cli.IsTerminal(a.stdout) {
		return ""
	}
	return what
}

// bar starts a progress bar, which is not shown with --quiet. The size is unknown if it is not positive. The caller
// must end it.
func (a *app) bar(what string, size int64) *cli.Progress {
	if a.quiet {
		what = ""
	}
	return cli.ShowProgress(a.stderr, what, size, time.Now())
}

// later shows progress that the work reports itself. The clock starts with the first report: the time before, in which
// keys were read, does not predict the time left.
type later struct {
	*cli.Progress // since the first report
	a             *app
	what          string // the text of the bar
	once          sync.Once
}

func (a *app) later(what string) *later { return &later{a: a, what: what} }

// share shows the share of the work that is done, in [0, 1].
func (l *later) share(done float64) {
	l.once.Do(func() { l.Progress = l.a.bar(l.what, cli.All) })
	l.Read.Store(int64(done * cli.All))
}

// report is a function for Config.Building.Progress.
func (l *later) report(now filter.Progress) {
	l.share(now.Done)
	l.Rate.Store(math.Float64bits(now.Rate))
}

// count shows that done of all parts of the work are done.
func (l *later) count(done, all int) { l.share(float64(done) / float64(cmp.Or(all, 1))) }

// End removes the bar, if there is one.
func (l *later) End() {
	l.once.Do(func() { l.Progress = l.a.bar("", 0) })
	l.Progress.End()
}
