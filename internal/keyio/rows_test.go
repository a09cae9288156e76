package keyio

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestTSV(t *testing.T) {
	for _, tt := range []struct {
		name  string
		o     Options
		files []string
		want  []string
	}{
		{"first column", Options{}, []string{"a\t1\nb\t2"}, []string{"a", "b"}},
		{"last column", Options{Column: "2"}, []string{"a\t1\r\nb\t2\r\n"}, []string{"1", "2"}},
		{"name", Options{Column: "n"}, []string{"k\tn\na\t1\n", "\n\nn\tk\n2\tb"}, []string{"1", "2"}},
		{"number and header", Options{Column: "2", Header: true}, []string{"k\tn\na\t1\n", ""}, []string{"1"}},
		{"BOM", Options{Column: "k"}, []string{bom + "k\tn\na\t1\n"}, []string{"a"}},
		{"quotes belong to keys", Options{Column: "2"}, []string{"a\t\"1\"\nb\t\"2\n"}, []string{"\"1\"", "\"2"}},
		{"empties skipped", Options{Column: "2"}, []string{"a\t\t1\n\nb\tx\n"}, []string{"x"}},
		{"empties kept", Options{Column: "2", KeepEmpty: true}, []string{"a\t\t1\n\nb\tx\n"}, []string{"", "x"}},
		{"rows of any length", Options{Column: "2"}, []string{"a\t1\nb\t2\t3\n"}, []string{"1", "2"}},
		{"empty file", Options{}, []string{""}, nil},
		{"header alone", Options{Column: "k"}, []string{"k"}, nil},
	} {
		tt.o.Format = TSV
		for _, block := range []int{1, 3, blockSize} {
			got, err := keysOf(t, open(t, tt.o, block, tt.files...))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s, blocks of %d: %q, %v; want %q", tt.name, block, got, err, tt.want)
			}
		}
	}
}

func TestTSVErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		text string
		says []string
	}{
		{"short row", Options{Column: "3"}, "a\t1\tx\n\nb\t2\n", []string{":3:", "no column 3", "has 2"}},
		{"no such name", Options{Column: "key"}, "a\tb c\n", []string{`no column "key"`, `"a", "b c"`}},
		{"name twice", Options{Column: "b"}, "a\tb\tb\n", []string{"2 or 3"}},
		{"empty file", Options{Column: "b"}, "", []string{"is empty", "header row"}},
		{"long key", Options{MaxKey: 3}, "k\nabcd\tx\n", []string{":2:", "longer than 3"}},
		{"endless row", Options{}, "a\n" + strings.Repeat("b", 4<<20), []string{":2:", "row is longer"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Format = TSV
			in := open(t, tt.o, blockSize, tt.text)
			_, err := keysOf(t, in)
			wantError(t, err, append(tt.says, in.sources[0].path)...)
		})
	}
}

// TestRows: rows come as they are in the input, with the header row of the first one.
func TestRows(t *testing.T) {
	csv := "mail,note\r\n\n\"a@x\",\"1\n2\"\r\n\r\n ,b\n,no key\nc@x,\"\"\"q\"\"\""
	for _, tt := range []struct {
		name   string
		o      Options
		files  []string
		header string
		rows   []string
	}{
		{"CSV", Options{Column: "mail"}, []string{csv, "mail,note\nd,\n"}, "mail,note\r\n",
			[]string{"\"a@x\",\"1\n2\"\r\n", " ,b\n", "c@x,\"\"\"q\"\"\"\n", "d,\n"}},
		{"no header", Options{Column: "2"}, []string{"a,1\n,2"}, "", []string{"a,1\n", ",2\n"}},
		{"header alone", Options{Header: true}, []string{"a,1"}, "a,1\n", nil},
		{"TSV", Options{Format: TSV, Column: "k"}, []string{"n\tk\n1\ta\r\n\n2\tb", "n\tk\n3\tc\n"}, "n\tk\n",
			[]string{"1\ta\r\n", "2\tb\n", "3\tc\n"}},
		{"TSV, header alone", Options{Format: TSV, Header: true}, []string{"n\tk"}, "n\tk\n", nil},
		{"empty", Options{Header: true}, []string{""}, "", nil},
	} {
		if tt.o.Rows = true; tt.o.Format == "" {
			tt.o.Format = CSV
		}
		for _, block := range []int{1, 5, 40, blockSize} {
			header := ""
			var rows []string
			err := open(t, tt.o, block, tt.files...).Process(t.Context(), 3, func(_ int, b *Batch) error {
				if len(b.Rows) != len(b.Keys) {
					return fmt.Errorf("%d rows, %d keys", len(b.Rows), len(b.Keys))
				}
				return nil
			}, func(b *Batch) error {
				if len(b.Header) > 0 && (header != "" || rows != nil) {
					t.Errorf("%s: header %q after %q, %q", tt.name, b.Header, header, rows)
				}
				header += string(b.Header)
				for _, row := range b.Rows {
					rows = append(rows, string(row))
				}
				return nil
			})
			if err != nil || header != tt.header || !slices.Equal(rows, tt.rows) {
				t.Errorf("%s, blocks of %d: %q, %q, %v; want %q, %q", tt.name, block, header, rows, err, tt.header, tt.rows)
			}
		}
	}
	for _, format := range []Format{CSV, TSV} {
		in := open(t, Options{Format: format, Column: "k", Rows: true}, blockSize, "k\na\n", "k2\nb\n")
		_, err := keysOf(t, in)
		wantError(t, err, in.sources[0].path, in.sources[1].path, "header row")
	}
}

// TestRowsRandom: the rows of a table, one after the other, are the table, and its keys are those of encoding/csv. Also
// if it comes one byte at a time through a pipe, compressed.
func TestRowsRandom(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 200 {
		var text strings.Builder
		w := csv.NewWriter(&text)
		w.UseCRLF = r.IntN(2) == 0
		want := []string{}
		for range 1 + r.IntN(20) {
			row := []string{"k", "k", "k"}
			for c := range row {
				row[c] += strings.ReplaceAll(randomText(r, r.IntN(20)), "\r", "")
			}
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
			want = append(want, row[1])
		}
		w.Flush()
		table := text.String()
		o := Options{Format: CSV, Column: "2", Header: r.IntN(2) == 0, Rows: true}
		if o.Header {
			want = want[1:]
		}
		read := func(in *Input) (got string, keys []string, err error) {
			keys = []string{}
			err = in.Process(t.Context(), 2, nil, func(b *Batch) error {
				got += string(b.Header)
				for i, row := range b.Rows {
					got += string(row)
					keys = append(keys, string(b.Keys[i]))
				}
				return nil
			})
			return got, keys, err
		}
		in := open(t, o, 1+r.IntN(100), table)
		if got, keys, err := read(in); err != nil || got != table || !slices.Equal(keys, want) {
			t.Fatalf("seed %d, table %d: %q, %q, %v; want %q, %q", seed, i, got, keys, err, table, want)
		}
		o.Stdin = iotest.OneByteReader(strings.NewReader(zstded(t, bom+table)))
		in, err := Open(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, keys, err := read(in); err != nil || got != table || !slices.Equal(keys, want) {
			t.Fatalf("seed %d, table %d through a pipe: %q, %q, %v; want %q, %q", seed, i, got, keys, err, table, want)
		}
	}
}
