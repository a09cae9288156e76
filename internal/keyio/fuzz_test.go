package keyio

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// FuzzProcess reads any bytes in every format. The keys, which are all before a bad row, depend neither on the number of
// workers nor on the size of blocks, and no key is longer than the limit.
func FuzzProcess(f *testing.F) {
	formats := []Options{
		{}, {Format: Null}, {Format: CSV}, {Format: TSV}, {Format: CSV, Column: "b", Header: true}, {Format: TSV,
			Column: "2"},
		{Format: CSV, Column: "2", Second: "1", Rows: true}, {BadRows: Skip}, {BadRows: Pass}, {Format: Hex},
		{Format: Hex, BadRows: Skip}, {Format: CSV, Column: "2", BadRows: Skip}, {Format: TSV, Column: "2", BadRows: Skip},
	}
	seeds := []string{
		"", "\n", "a\nb\r\nc", "a\x00b\nc\x00", "a,b\n1,2\n", "\"a\"\"\",\"b\nc\"\n1,2", "a\tb\n1\t2\n", "\xef\xbb\xbfa\n",
		string(gzipped(f, "a\nb\n")), string(zstded(f, "a\nb\n")), "\x1f\x8b", "BZh9", "a\xff\xfeb\n",
	}
	for i := range formats {
		for _, s := range seeds {
			f.Add(byte(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		o := formats[int(which)%len(formats)]
		o.MaxKey = 100
		if int(which) >= len(formats) {
			o.MaxKey = 3
		}
		var first []string
		var failed, whole bool // whole: the input is no list of keys, which is found in the first block if it is large enough
		for i, block := range []int{1, 7, 1 << 16} {
			in, err := OpenReader("fuzz", bytes.NewReader(b), o)
			if err != nil {
				t.Fatal(err)
			}
			in.set.BlockSize = block
			var keys []string
			err = in.Process(t.Context(), 1+i, nil, func(b *Batch) error {
				for _, k := range b.Keys {
					keys = append(keys, string(k))
				}
				return nil
			})
			for _, k := range keys {
				if len(k) > o.MaxKey {
					t.Fatalf("a key of %d bytes", len(k))
				}
			}
			var long *KeyTooLongError
			if errors.As(err, &long) && long.Line < 1 {
				t.Fatalf("line %d", long.Line)
			}
			if other := new(UnsupportedError); errors.As(err, &other) {
				whole = whole || other.Line == 0
			}
			if i == 0 {
				first, failed = keys, err != nil
				continue
			}
			if !whole && ((err != nil) != failed || !slices.Equal(keys, first)) {
				t.Fatalf("blocks of %d: %q, %v; blocks of 1: %q, failed: %t", block, keys, err, first, failed)
			}
		}
	})
}
