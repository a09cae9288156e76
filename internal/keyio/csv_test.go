package keyio

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestCSV(t *testing.T) {
	for _, tt := range []struct {
		name  string
		o     Options
		files []string
		want  []string
	}{
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
	} {
		tt.o.Format = CSV
		for _, block := range []int{1, 3, blockSize} {
			got, err := keysOf(t, open(t, tt.o, block, tt.files...))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s, blocks of %d: %q, %v; want %q", tt.name, block, got, err, tt.want)
			}
		}
	}
}

func TestCSVErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		text string
		says []string
	}{
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
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Format = CSV
			in := open(t, tt.o, blockSize, tt.text)
			_, err := keysOf(t, in)
			wantError(t, err, append(tt.says, in.sources[0].path)...)
		})
	}
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
	// A block of 40 bytes holds ten keys of three bytes and one end each. The first key is on line 4.
	if want := []int64{4, 24, 44, 64}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("first keys on lines %v, %v; want %v", lines, err, want)
	}
}
