package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/interop"
)

// columnFlags choose a filter of a Parquet file.
type columnFlags struct {
	name    string
	group   int
	grouped bool            // group was given
	form    *filter.KeyForm // --key-type, of any file
}

// check returns an error if the flags contradict each other or the format of the file.
func (f columnFlags) check(from interop.Format) error {
	switch {
	case f.grouped && f.name == "":
		return errors.New("--row-group needs --column")
	case f.group < 0:
		return fmt.Errorf("--row-group %d: want 0 or more", f.group)
	case f.name != "" && from != "" && from != interop.Parquet:
		return fmt.Errorf("--column is for Parquet files, not for --from %s", from)
	}
	return nil
}

// cutOut lists how other programs show the position of a filter.
const cutOut = `  pyarrow:  ParquetFile(F).metadata.row_group(G).column(C) has bloom_filter_offset and bloom_filter_length
  DuckDB:   SELECT path_in_schema, bloom_filter_offset, bloom_filter_length FROM parquet_metadata('F')
  shell:    tail -c +$((OFFSET+1)) F | head -c LENGTH > column.bin`

// isParquetFile reports whether f begins like a whole Parquet file. No filter begins like that.
func isParquetFile(f io.ReaderAt) bool {
	var b [4]byte
	_, _ = f.ReadAt(b[:], 0) // an error leaves zeros
	return string(b[:]) == "PAR1"
}

// readColumn reads the filter of a column of a Parquet file.
func readColumn(path string, f *os.File, st os.FileInfo, flags columnFlags) (*bloomery.Set, error) {
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: the end of a Parquet file says where its filters are", path)
	}

	columns, err := interop.Columns(f, st.Size())
	switch {
	case errors.Is(err, interop.ErrForm) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, cli.Advise(fmt.Errorf("%s: %w", path, err), "If you know the place of a filter:\n"+cutOut)
	case errors.Is(err, interop.ErrFormat):
		return nil, fmt.Errorf("%s: --column is for whole Parquet files: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}

	column, err := flags.choose(columns)
	if err != nil {
		return nil, fmt.Errorf("%s is a whole Parquet file: %w", path, err)
	}

	section := io.NewSectionReader(f, column.Offset, column.Length)
	if flags.form != nil {
		column.Form = *flags.form
	}
	set, err := interop.ReadAs(section, interop.Parquet, column.Form, uint64(column.Length))
	if err != nil {
		err = fmt.Errorf("%s: the filter of column %s in row group %d, from byte %d on: %w", path, column.Name,
			column.RowGroup, column.Offset, err)
		if errors.Is(err, interop.ErrForm) {
			err = cli.Advise(err, "Filters of that form cannot be converted: let the other system write it again.")
		}
		return nil, err
	}
	return set, nil
}

// choose returns the column chunk that the flags name. If none or several match, the error lists the columns.
func (f columnFlags) choose(all []interop.Column) (interop.Column, error) {
	if len(all) == 0 {
		return interop.Column{}, cli.Advise(errors.New("no column of it has a Bloom filter"),
			"pyarrow writes them with bloom_filter_options=, DuckDB for columns that it stores with a dictionary.")
	}
	if f.name == "" {
		return interop.Column{}, cli.Advise(errors.New("it has a filter for each row group of a column"),
			"Name a column with --column. These have filters:\n"+listColumns(all))
	}

	named := slices.DeleteFunc(slices.Clone(all), func(c interop.Column) bool { return c.Name != f.name })
	if len(named) == 0 {
		return interop.Column{}, cli.Advise(fmt.Errorf("no column %s with a Bloom filter", f.name),
			"These columns have filters:\n"+listColumns(all))
	}

	groups := groupsOf(named)
	if f.grouped {
		named = slices.DeleteFunc(named, func(c interop.Column) bool { return c.RowGroup != f.group })
	}

	switch {
	case len(named) == 0:
		return interop.Column{}, fmt.Errorf("no filter of column %s in row group %d; there are filters in %s", f.name,
			f.group, groups)
	case len(named) == 1:
		return named[0], nil
	case named[0].RowGroup == named[1].RowGroup: // such as group a with column b, and a column "a.b"
		return interop.Column{}, cli.Advise(
			fmt.Errorf("row group %d has several columns %s", named[0].RowGroup, f.name),
			"Cut the filter of one of them out and convert that, with --from parquet:\n"+cutOut)
	}
	return interop.Column{}, cli.Advise(
		fmt.Errorf("column %s has filters in %s, each for the rows of its row group", f.name, groups),
		"Name one with --row-group. Filters of the same size can be merged: bloomery merge.")
}

// maxListed is the number of columns that an error lists.
const maxListed = 30

// listColumns returns a line for each column.
func listColumns(all []interop.Column) string {
	var names []string
	by := map[string][]interop.Column{}
	for _, c := range all {
		if by[c.Name] == nil {
			names = append(names, c.Name)
		}
		by[c.Name] = append(by[c.Name], c)
	}

	var b strings.Builder
	for _, name := range names[:min(len(names), maxListed)] {
		fmt.Fprintf(&b, "  %s (%s, %s)\n", name, by[name][0].Type, groupsOf(by[name]))
	}
	if more := len(names) - maxListed; more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	return strings.TrimRight(b.String(), "\n")
}

// groupsOf describes the row groups of column chunks, in their order.
func groupsOf(all []interop.Column) string {
	first, last := all[0].RowGroup, all[len(all)-1].RowGroup
	switch {
	case len(all) == 1:
		return fmt.Sprintf("row group %d", first)
	case last-first == len(all)-1:
		return fmt.Sprintf("row groups %d to %d", first, last)
	}
	return fmt.Sprintf("%d row groups from %d to %d", len(all), first, last)
}
