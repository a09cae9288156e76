package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/keyio"
)

// inputFlags are the flags of commands that read keys.
type inputFlags struct {
	format, column     string
	delimiter          rune // 0 if not given
	header, keep, null bool
	rows               bool   // keep whole rows; no flag
	second             string // a second column: --partition-column or --value-column
	maxKey             int    // 0: the limit of keyio
}

func (f *inputFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "input-format", "lines",
		"lines, csv, tsv (fields between tabs, quotes are part of them) or null; "+
			"gzip, zstd and bzip2 are recognised by content")
	const columnHelp = "csv, tsv: `name` in the header row, or number from 1 (default the first)"
	c.Flags().Func("column", columnHelp, named(&f.column, "column"))
	const delimiterHelp = "csv: `character` between the fields, which may be quoted, such as \";\" or \"\\t\" " +
		"(default \",\")"
	c.Flags().Func("delimiter", delimiterHelp, func(s string) (err error) {
		f.delimiter, err = parseDelimiter(s)
		return err
	})
	c.Flags().BoolVar(&f.header, "header", false,
		"csv, tsv: the first row is a header, although the column is a number")
	c.Flags().BoolVar(&f.keep, "keep-empty", false, "empty lines are keys too")
	c.Flags().BoolVarP(&f.null, "null", "0", false,
		"keys end in a NUL byte, as those of find -print0, in the input and the output; same as --input-format null")
	c.Flags().Func("max-key-bytes", "longest key in `bytes`, up to 1GiB (default 1MiB); a row may be 1 MiB longer",
		func(s string) error {
			n, err := parseBytes("--max-key-bytes", s)
			if err != nil || n > 1<<30 {
				return errors.New("want 1 byte to 1GiB, such as 64KiB or 10MB")
			}
			f.maxKey = int(n)
			return nil
		})
	complete(c, "input-format", "lines", "csv", "tsv", "null")
}

// options returns the checked options of keyio.
func (f *inputFlags) options() (o keyio.Options, err error) {
	o = keyio.Options{
		Format: keyio.Format(f.format), Column: f.column, Header: f.header, KeepEmpty: f.keep, Rows: f.rows,
		Delimiter: f.delimiter, MaxKey: f.maxKey, Second: f.second,
	}
	if f.null {
		if o.Format != keyio.Lines && o.Format != keyio.Null {
			return o, fmt.Errorf("--null: keys in columns have no NUL bytes; leave out --input-format %s", f.format)
		}
		o.Format = keyio.Null
	}
	columns := o.Format == keyio.CSV || o.Format == keyio.TSV
	switch {
	case !columns && o.Format != keyio.Lines && o.Format != keyio.Null:
		return o, fmt.Errorf("--input-format %q: want lines, csv, tsv or null", f.format)
	case !columns && f.column != "":
		return o, fmt.Errorf("--column %s: lines have no columns; add --input-format csv or tsv", f.column)
	case !columns && f.second != "":
		return o, fmt.Errorf("column %s: lines have no columns; add --input-format csv or tsv", f.second)
	case !columns && f.header:
		return o, errors.New("--header: lines have no header row; add --input-format csv or tsv")
	case f.delimiter != 0 && o.Format == keyio.TSV:
		return o, fmt.Errorf("--delimiter %q: tsv has tabs; use --input-format csv", f.delimiter)
	case f.delimiter != 0 && !columns:
		return o, fmt.Errorf("--delimiter %q: lines have no columns; add --input-format csv", f.delimiter)
	}
	return o, nil
}

// end returns the byte that ends a key in the output.
func (f *inputFlags) end() byte {
	if f.null || f.format == string(keyio.Null) {
		return 0
	}
	return '\n'
}

// columns reports whether the inputs have rows.
func (f *inputFlags) columns() bool {
	return f.format == string(keyio.CSV) || f.format == string(keyio.TSV)
}
