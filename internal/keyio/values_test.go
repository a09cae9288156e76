package keyio

import (
	"fmt"
	"slices"
	"testing"
)

func TestValues(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		v    Values
		text string
		want []string
	}{
		{
			"lines", Options{KeepEmpty: true}, Values{Bits: 4}, "a\t3\n\nb\tc\t15\r\n\t0\n",
			[]string{"a=3", "b\tc=15", "=0"},
		},
		{"separator", Options{KeepEmpty: true}, Values{Bits: 64, Separator: '='}, "a=b=18446744073709551615",
			[]string{"a=b=18446744073709551615"}},
		{"NUL", Options{Format: Null, KeepEmpty: true}, Values{Bits: 8}, "a\nb\t3\x00c\t4", []string{"a\nb=3", "c=4"}},
		{"CSV", Options{Format: CSV, Second: "2"}, Values{Bits: 8, Column: true}, "a,3\n,4\n\"b,c\",255\n",
			[]string{"a=3", "b,c=255"}},
		{"TSV", Options{Format: TSV, Column: "k", Second: "v"}, Values{Bits: 1, Column: true}, "v\tk\n1\ta\n0\tb\n",
			[]string{"a=1", "b=0"}},
	} {
		for _, block := range []int{1, 3, blockSize} {
			var got []string
			work := func(_ int, b *Batch) error { return tt.v.Read(b) }
			err := open(t, tt.o, block, tt.text).Process(t.Context(), 0, work, func(b *Batch) error {
				for i, key := range b.Keys {
					got = append(got, fmt.Sprintf("%s=%d", key, b.Values[i]))
				}
				return nil
			})
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s, blocks of %d: %q, %v; want %q", tt.name, block, got, err, tt.want)
			}
		}
	}
}

func TestBadValues(t *testing.T) {
	lines, csv := Options{KeepEmpty: true}, Options{Format: CSV, Second: "2"}
	column := Values{Bits: 4, Column: true}
	for _, tt := range []struct {
		name, text string
		o          Options
		v          Values
		says       []string
	}{
		{"no separator", "a\t1\n\nb\n", lines, Values{Bits: 4}, []string{":3: ", `"b" has no value`, `'\t'`}},
		{"no number", "a\tx\n", lines, Values{Bits: 4}, []string{":1: ", `value "x": want a whole number`}},
		{"negative", "a\t-1\n", lines, Values{Bits: 4}, []string{`value "-1"`}},
		{"large", "a\t16\n", lines, Values{Bits: 4}, []string{"value 16 is too large", "up to 15"}},
		{"very large", "a\t18446744073709551616\n", lines, Values{Bits: 64}, []string{"want a whole number"}},
		{"column", "a,1\nb,\n", csv, column, []string{`: key "b": `, `value "": want`}},
		{"large in a column", "a,16\n", csv, column, []string{`: key "a": `, "up to 15"}},
	} {
		in := open(t, tt.o, blockSize, tt.text)
		err := in.Process(t.Context(), 0, func(_ int, b *Batch) error { return tt.v.Read(b) }, nil)
		wantError(t, err, append(tt.says, in.sources[0].path)...)
	}
}

// TestOptionalValues checks that a batch has a value for each key or for none.
func TestOptionalValues(t *testing.T) {
	lines, csv := Options{KeepEmpty: true}, Options{Format: CSV, Second: "2"}
	for _, tt := range []struct {
		name, text string
		o          Options
		v          Values
		want       []string
		values     int
	}{
		{"with", "a\t3\n\nb\t4\n", lines, Values{Bits: 4, Optional: true}, []string{"a", "b"}, 2},
		{"without", "a\n\nb=c\n", lines, Values{Bits: 4, Optional: true}, []string{"a", "b=c"}, 0},
		{"empty keys", "a\n\nb\n", lines, Values{Bits: 4, Optional: true, KeepEmpty: true}, []string{"a", "", "b"}, 0},
		{"tabs", "a\tb\n", lines, Values{Bits: 4, Optional: true, Separator: '='}, []string{"a\tb"}, 0},
		{"column", "a,1\nb,2\n", csv, Values{Bits: 4, Column: true, Optional: true}, []string{"a", "b"}, 2},
		{"empty column", "a,\nb,\n", csv, Values{Bits: 4, Column: true, Optional: true}, []string{"a", "b"}, 0},
	} {
		var got []string
		values := 0
		err := open(t, tt.o, blockSize, tt.text).Process(t.Context(), 0, func(_ int, b *Batch) error {
			return tt.v.Read(b)
		}, func(b *Batch) error {
			for _, key := range b.Keys {
				got = append(got, string(key))
			}
			values += len(b.Values)
			return nil
		})
		if err != nil || !slices.Equal(got, tt.want) || values != tt.values {
			t.Errorf("%s: %q with %d values, %v; want %q with %d", tt.name, got, values, err, tt.want, tt.values)
		}
	}
	for _, text := range []string{"a\t1\nb\n", "a\nb\t1\n", "a\nb\tx\n", "a\tx\n"} {
		v := Values{Bits: 4, Optional: true}
		err := open(t, lines, blockSize, text).Process(t.Context(), 0, func(_ int, b *Batch) error { return v.Read(b) }, nil)
		if err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}
