package keyio

import (
	"errors"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

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
	for _, tt := range []struct {
		name, text string
		o          Options
		says       []string
	}{
		{"short row", "A,1\nB\n", Options{Format: CSV, Second: "2"}, []string{":2:", "no column 2", "has 1"}},
		{"short row of TSV", "A\t1\nB\n", Options{Format: TSV, Second: "2"},
			[]string{":2:", "no column 2", "has 1"}},
		{"no such name", "a,b\n", Options{Format: CSV, Second: "c"}, []string{`no column "c"`}},
		{"empty file", "", Options{Format: CSV, Second: "c"}, []string{"is empty", `column "c"`}},
	} {
		in := open(t, tt.o, blockSize, tt.text)
		_, err := keysOf(t, in)
		wantError(t, err, append(tt.says, in.sources[0].path)...)
	}
	for _, o := range []Options{{Second: "1"}, {Format: CSV, Second: "0"}} {
		if _, err := Open([]string{write(t, "keys", "a\n")}, o); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
