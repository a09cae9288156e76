package keyio

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bloomery/bloomery/filter"
)

func TestCSV(t *testing.T) {
	checkKeys(t, CSV, []keysCase{
		{"first column", Options{}, []string{"a,1\nb,2"}, []string{"a", "b"}},
		{"number", Options{Column: "2"}, []string{"a,1\r\nb,2\r\n"}, []string{"1", "2"}},
		{"number and header", Options{Column: "2", Header: true}, []string{"k,n\na,1\n", "k,n\nb,2\n", ""},
			[]string{"1", "2"}},
		{"header alone", Options{Header: true}, []string{"k,n\na,1\n"}, []string{"a"}},
		{"name", Options{Column: "n"}, []string{"k,n\na,1\n", "n,k\n2,b\n"}, []string{"1", "2"}},
		{"BOM", Options{Column: "k"}, []string{"\xef\xbb\xbfk,n\na,1\n", "\xef\xbb\xbf\"k\"\nb"}, []string{"a", "b"}},
		{"short BOM", Options{}, []string{"\xef\xbb"}, []string{"\xef\xbb"}},
		{"quotes", Options{}, []string{"\"a,\"\"1\n\r\n2\",x\n\"b\"\n"}, []string{"a,\"1\n\n2", "b"}},
		{"empties skipped", Options{}, []string{"a\n\n\"\"\n,x\nb\n"}, []string{"a", "b"}},
		{"empties kept", Options{KeepEmpty: true}, []string{"a\n\n\"\"\n,x\nb\n"}, []string{"a", "", "", "b"}},
		{"rows of any length", Options{Column: "2"}, []string{"a,1\nb,2,3\n"}, []string{"1", "2"}},
		{"bytes", Options{}, []string{"\x01,1\n\xff,2\n"}, []string{"\x01", "\xff"}},
		{"delimiter", Options{Column: "2", Delimiter: ';'}, []string{"a,b;\"1;2\"\n"}, []string{"1;2"}},
		{"tab", Options{Column: "2", Delimiter: '\t'}, []string{"a\t\"1\t2\"\n"}, []string{"1\t2"}},
		{"delimiter of two bytes", Options{Column: "2", Delimiter: '·'}, []string{"a·b\n"}, []string{"b"}},
		{"empty file", Options{}, []string{""}, nil},
	})
}

func TestCSVErrors(t *testing.T) {
	checkErrors(t, CSV, []errorCase{
		{"short row", Options{Column: "2"}, "a,1\n\"\n\",2\nb\n", []string{":4:", "column 2", "has 1"}},
		{"no such name", Options{Column: "key"}, "a,b c\n", []string{`no column "key"`, `"a", "b c"`}},
		{"many names", Options{Column: "key"}, strings.Repeat("x,", 99) + "x\n", []string{"and 70 more"}},
		{"name twice", Options{Column: "b"}, "a,b,c,b\n", []string{"twice", "2 or 4"}},
		{"empty file", Options{Column: "b"}, "", []string{"is empty", "header row"}},
		{"bare quote", Options{}, "a\nb\"c\n", []string{":2:", "bare"}},
		{"open quote", Options{}, "a\n\"b\n", []string{"quote"}},
		{"endless quote", Options{}, "a\n\"" + strings.Repeat("b\n", 2<<20),
			[]string{"after byte 2", "closing quote missing"}},
		{"endless row", Options{}, "a\n" + strings.Repeat("b", 4<<20), []string{"too long"}},
		{"endless header", Options{Column: "b"}, strings.Repeat("b", 4<<20), []string{"too long"}},
	})
}

func TestCSVKeyTooLong(t *testing.T) {
	o := Options{Format: CSV, Column: "2", MaxKey: 10}
	if _, err := keysOf(t, open(t, o, 5, "x,\"0123456789\"\n")); err != nil {
		t.Error(err)
	}
	_, err := keysOf(t, open(t, o, 5, "\"\n\",a\n\"\n\",0123456789a\n"))
	var e *KeyTooLongError
	if !errors.As(err, &e) || e.Line != 4 || e.MaxKey != 10 {
		t.Errorf("error %v", err)
	}
}

func TestCSVBatchLine(t *testing.T) {
	text := "k\n\n\"\"\n" + strings.Repeat("\"a\nb\"\n", 40)
	var lines []int64
	err := open(t, Options{Format: CSV, Column: "k"}, 40, text).Process(t.Context(), 1, nil, func(b *Batch) error {
		lines = append(lines, b.Line)
		return nil
	})
	// A block of 40 bytes contains ten keys of three bytes and a newline each. The first key is on line 4.
	if want := []int64{4, 24, 44, 64}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("first keys on lines %v, %v; want %v", lines, err, want)
	}
}

// TestRows checks that rows are returned unchanged, with the header row of the first input.
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

// TestRowsRandom checks that the concatenated rows of a table are the table, and that its keys are what encoding/csv
// reads, also if the table is compressed and read one byte at a time from a pipe.
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

func TestSecond(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		text string
		want []string
	}{
		{"names", Options{Format: CSV, Column: "serial", Second: "issuer"},
			"issuer,serial\nA,1\n\"B,C\",2\n,3\n,\nD,\n", []string{"A 1", "B,C 2", " 3"}},
		{"numbers", Options{Format: CSV, Column: "2", Second: "1"}, "A,1\nB,2", []string{"A 1", "B 2"}},
		{"name and number", Options{Format: CSV, Second: "p"}, "k,p\n1,A\n", []string{"A 1"}},
		{"with rows", Options{Format: CSV, Second: "2", Rows: true}, "1,A\n2,B\n",
			[]string{"A 1 1,A\n", "B 2 2,B\n"}},
		{"one column", Options{Format: CSV, Second: "1"}, "1\n2\n", []string{"1 1", "2 2"}},
		{"TSV", Options{Format: TSV, Column: "serial", Second: "issuer"}, "serial\tissuer\n1\tA\n2\t\n\tB\n3\tC\r\n",
			[]string{"A 1", " 2", "C 3"}},
		{"TSV with rows", Options{Format: TSV, Column: "2", Second: "1", Rows: true}, "A\t1\n",
			[]string{"A 1 A\t1\n"}},
	} {
		for _, block := range []int{1, 3, blockSize} {
			var got []string
			err := open(t, tt.o, block, tt.text).Process(t.Context(), 0, nil, func(b *Batch) error {
				for i, key := range b.Keys {
					line := string(b.Second[i]) + " " + string(key)
					if tt.o.Rows {
						line += " " + string(b.Rows[i])
					}
					got = append(got, line)
				}
				return nil
			})
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s, blocks of %d: %q, %v; want %q", tt.name, block, got, err, tt.want)
			}
		}
	}
}

func TestSecondErrors(t *testing.T) {
	short := errorCase{"short row", Options{Second: "2"}, "A,1\nB\n", []string{":2:", "no column 2", "has 1"}}
	checkErrors(t, CSV, []errorCase{
		short,
		{"no such name", Options{Second: "c"}, "a,b\n", []string{`no column "c"`}},
		{"empty file", Options{Second: "c"}, "", []string{"is empty", `column "c"`}},
	})
	short.text = "A\t1\nB\n"
	checkErrors(t, TSV, []errorCase{short})
	for _, o := range []Options{{Second: "1"}, {Format: CSV, Second: "0"}} {
		if _, err := Open([]string{write(t, "keys", "a\n")}, o); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
