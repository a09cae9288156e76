package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// inputFlags are the flags of commands that read keys.
type inputFlags struct {
	format, column string
	header, keep   bool
}

func (f *inputFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "input-format", "lines", "lines or csv; gzip and zstd are recognised by content")
	c.Flags().StringVar(&f.column, "column", "", "csv: name in the header row, or number from 1 (default the first)")
	c.Flags().BoolVar(&f.header, "header", false, "csv: the first row is a header though the column is a number")
	c.Flags().BoolVar(&f.keep, "keep-empty", false, "empty lines are keys too")
	_ = c.RegisterFlagCompletionFunc("input-format", cobra.FixedCompletions([]string{"lines", "csv"}, cobra.ShellCompDirectiveNoFileComp))
}

// keys opens inputs; read, if not nil, follows the bytes taken in.
func (a *app) keys(f inputFlags, paths []string, read *atomic.Int64) (*keyio.Input, error) {
	switch {
	case f.format != "lines" && f.format != "csv":
		return nil, fmt.Errorf("--input-format %q: want lines or csv", f.format)
	case f.format == "lines" && f.column != "":
		return nil, fmt.Errorf("--column %s: lines have no columns; add --input-format csv", f.column)
	case f.format == "lines" && f.header:
		return nil, fmt.Errorf("--header: lines have no header row; add --input-format csv")
	}
	o := keyio.Options{Format: keyio.Format(f.format), Column: f.column, Header: f.header, KeepEmpty: f.keep, Stdin: a.stdin}
	if read != nil {
		o.Progress = read.Store
	}
	return keyio.Open(paths, o)
}

// sizeFlags are the flags that choose a size.
type sizeFlags struct {
	bitsPerKey float64
	fpr        string
	bytes      string
}

func (f *sizeFlags) register(c *cobra.Command) {
	c.Flags().Float64Var(&f.bitsPerKey, "bits-per-key", 0, "size in bits a key, fractions allowed")
	c.Flags().StringVar(&f.fpr, "fpr", "", "size from the rate of false positives to keep, such as 0.01 or 1%")
	c.Flags().StringVar(&f.bytes, "bytes", "", "size in all, such as 65536, 64KiB or 10MB")
	c.MarkFlagsMutuallyExclusive("bits-per-key", "fpr", "bytes")
}

// sizing returns what the flags say; a flag that is given must say something.
func (f *sizeFlags) sizing(c *cobra.Command) (s filter.Sizing, err error) {
	switch {
	case c.Flags().Changed("bits-per-key"):
		if !(f.bitsPerKey > 0) {
			return s, fmt.Errorf("--bits-per-key %v: want more than 0", f.bitsPerKey)
		}
		s.BitsPerKey = f.bitsPerKey
	case c.Flags().Changed("fpr"):
		s.FPR, err = parseRate(f.fpr)
	case c.Flags().Changed("bytes"):
		s.Bytes, err = parseBytes("--bytes", f.bytes)
	}
	if err == nil {
		err = s.Check()
	}
	return s, err
}

// parseRate reads 0.01 or 1%.
func parseRate(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v < 1) {
		return 0, fmt.Errorf("--fpr %q: want a rate between 0 and 1, such as 0.01 or 1%%", text)
	}
	return v, nil
}

// parseBytes reads a size, such as 65536, 64KiB or 10MB.
func parseBytes(flag, text string) (uint64, error) {
	v, ok := parseWhole(strings.TrimSuffix(strings.TrimSpace(text), "B"))
	if !ok || v == 0 {
		return 0, fmt.Errorf("%s %q: want a size above 0, such as 65536, 64KiB or 10MB", flag, text)
	}
	return v, nil
}

// parseCount reads a number of keys, such as 10M.
func parseCount(flag, text string) (uint64, error) {
	v, ok := parseWhole(strings.TrimSpace(text))
	if !ok {
		return 0, fmt.Errorf("%s %q: want a whole number, such as 65536, 10M or 64Ki", flag, text)
	}
	return v, nil
}

// units of counts and sizes: k, M, G, T are powers of 1000, with i of 1024.
var units = map[string]float64{
	"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40,
}

// parseWhole reads a whole number with a unit.
func parseWhole(text string) (uint64, bool) {
	number := strings.TrimRight(text, "kKMGTi")
	if v, err := strconv.ParseUint(number, 10, 64); err == nil && number == text {
		return v, true
	}
	v, err := strconv.ParseFloat(number, 64)
	unit, known := units[text[len(number):]]
	v *= unit
	return uint64(v), err == nil && known && v >= 0 && v < 1<<63 && v == math.Trunc(v)
}
