package keyio

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

func TestPrepare(t *testing.T) {
	const text = " \tA\u00c4 Z\u00a0\r\v\f\n"
	for _, tt := range []struct {
		key, want   string
		trim, lower bool
	}{
		{text, text, false, false},
		{text, "A\u00c4 Z\u00a0", true, false}, // no-break space is not ASCII
		{text, "a\u00c4 z\u00a0", true, true},
		{text, strings.NewReplacer("A", "a", "Z", "z").Replace(text), false, true},
		{"@[`{", "@[`{", true, true},
		{" \n", "", true, true},
		{"", "", true, true},
	} {
		key := []byte(tt.key)
		if got := string(Prepare(key, tt.trim, tt.lower)); got != tt.want || string(key) != tt.key {
			t.Errorf("Prepare(%q, %t, %t) = %q, want %q; the key became %q", tt.key, tt.trim, tt.lower, got, tt.want, key)
		}
	}
}

func TestPreparedKeys(t *testing.T) {
	both := Options{Trim: true, Lower: true}
	text := []string{" A \nb\t\r\n  \nÄC\n"}
	checkKeys(t, Lines, []keysCase{
		{"neither", Options{}, text, []string{" A ", "b\t", "  ", "ÄC"}},
		{"trim", Options{Trim: true}, text, []string{"A", "b", "ÄC"}},
		{"lower", Options{Lower: true}, text, []string{" a ", "b\t", "  ", "Äc"}},
		{"both", both, text, []string{"a", "b", "Äc"}},
		{"empties kept", Options{Trim: true, KeepEmpty: true}, text, []string{"A", "b", "", "ÄC"}},
		{"numbers", Options{Trim: true, LineNumbers: true}, text, []string{"A", "b", "ÄC"}},
	})
	checkKeys(t, Null, []keysCase{{"both", both, []string{" A\n\x00\n\x00B"}, []string{"a", "b"}}})
	checkKeys(t, Hex, []keysCase{{"both", both, []string{"2041\n20\n4a\n"}, []string{"a", "j"}}})
	checkKeys(t, TSV, []keysCase{{"both", both, []string{"A \tx\n \ty\nB"}, []string{"a", "b"}}})
	checkKeys(t, JSONL, []keysCase{{"both", Options{Column: "k", Trim: true, Lower: true},
		[]string{`{"k":[" A\n","B","  "],"K":"c"}`}, []string{"a", "b"}}})
	checkKeys(t, CSV, []keysCase{
		{"both", both, []string{"\" A\n\",x\n \nB,\n"}, []string{"a", "b"}},
		{"header as it is", Options{Column: "K", Trim: true, Lower: true}, []string{"i,K\n1,A\n"}, []string{"a"}},
	})
}

func TestComments(t *testing.T) {
	hash := Options{Comments: "#"}
	checkKeys(t, Lines, []keysCase{
		{"none", Options{}, []string{"#a\nb #c\n"}, []string{"#a", "b #c"}},
		{"lines", hash, []string{"# a\n#\n \t#b\nc\n\nd\r\n#"}, []string{"c", "d"}},
		{"behind keys", hash, []string{"a # b\r\nc#d\ne \t# f # g\n#h i #\n j#k #l\n"}, []string{"a", "c#d", "e", " j#k"}},
		{"two characters", Options{Comments: "//"}, []string{"// a\nb //c\n/d /e\nhttp://f\n"},
			[]string{"b", "/d /e", "http://f"}},
		{"repeated", Options{Comments: "##"}, []string{"a ###\n# b\n###\nc # ##\n"}, []string{"a", "# b", "c #"}},
		{"empties kept", Options{Comments: "#", KeepEmpty: true}, []string{"#\n\na\n"}, []string{"", "a"}},
		{"only comments", hash, []string{"#a\n#b"}, []string{}},
		{"NUL byte", hash, []string{"# \x00\na\n"}, []string{"a"}},
	})
	checkKeys(t, Hex, []keysCase{{"both", hash, []string{"# sums\n6162 # ab\n"}, []string{"ab"}}})
	checkKeys(t, Null, []keysCase{{"records", hash, []string{"#a\nb\x00c\n#\x00d"}, []string{"c", "d"}}})
	checkKeys(t, TSV, []keysCase{
		{"only whole rows", Options{Comments: "#", Column: "k"}, []string{"# t\n #\nn\tk\n1\ta # b\n#2\tc\n"},
			[]string{"a # b"}},
	})
	checkKeys(t, JSONL, []keysCase{
		{"only whole rows", Options{Comments: "//", Column: "k"}, []string{" // t\n{\"k\":\"a // b\"}\n//{\n"},
			[]string{"a // b"}},
	})
	checkKeys(t, CSV, []keysCase{
		{"only whole rows", Options{Comments: "#", Column: "k"}, []string{"# \"t\n\nn,k\n1,a # b\n#2,c\n3,\"\n#d\"\n#"},
			[]string{"a # b", "\n#d"}},
		{"not ASCII", Options{Comments: "§"}, []string{"§ t\na\n"}, []string{"a"}},
	})
}

func TestFields(t *testing.T) {
	hosts := "# hosts\n\n127.0.0.1\tlocalhost\n0.0.0.0  A.example b.example # why\r\n \t0.0.0.0 c.example\t\n#0.0.0.0 d"
	checkKeys(t, Fields, []keysCase{
		{"hosts", Options{Column: "2", Comments: "#"}, []string{hosts}, []string{"localhost", "A.example", "c.example"}},
		{"lower", Options{Column: "2", Comments: "#", Lower: true}, []string{hosts},
			[]string{"localhost", "a.example", "c.example"}},
		{"first", Options{}, []string{"a b\n \n\n  c\nd"}, []string{"a", "c", "d"}},
		{"name", Options{Column: "k"}, []string{" n  k \n1\ta\n", "k\nb"}, []string{"a", "b"}},
		{"quotes belong to keys", Options{}, []string{"\"a b\"\n"}, []string{"\"a"}},
		{"delimiter", Options{Delimiter: ':'}, []string{"A1:3\r\nB2:10\n::\n c :1\n"}, []string{"A1", "B2", " c "}},
		{"delimiter, second", Options{Delimiter: ':', Column: "2", KeepEmpty: true}, []string{"a::b\na:b"},
			[]string{"", "b"}},
		{"empty file", Options{}, []string{""}, nil},
	})
	checkErrors(t, Fields, []errorCase{
		{"short row", Options{Column: "3"}, "a 1 x\n\nb  2 \n", []string{":3:", "no column 3", "has 2"}},
		{"comment in the column", Options{Column: "2", Comments: "#"}, "a #b\n", []string{":1:", "has 1"}},
		{"no such name", Options{Column: "key"}, "a  b\n", []string{`no column "key"`, `"a", "b"`}},
		{"only comments", Options{Column: "key", Comments: "#"}, "#key\n", []string{"is empty"}},
		{"long key", Options{MaxKey: 3}, "k\n abcd x\n", []string{":2:", "longer than 3"}},
		{"endless row", Options{}, "a\n" + strings.Repeat("b ", 2<<20), []string{":2:", "row is longer", "fields"}},
		{"NUL byte", Options{}, "a\nb c\x00\n", []string{":2:"}},
	})
}

// TestPreparedRows checks that rows stay as they are in the input, whatever happens to their keys.
func TestPreparedRows(t *testing.T) {
	for _, tt := range []struct {
		o    Options
		text string
		rows []string
	}{
		{Options{}, "# t\n A # b\r\n \nB", []string{" A # b\r\n", "B\n"}},
		{Options{Format: Null}, "#\x00 A\x00B", []string{" A\x00", "B\x00"}},
		{Options{Format: TSV, Column: "2"}, "1\t A\n#\n2\tB\n", []string{"1\t A\n", "2\tB\n"}},
		{Options{Format: Fields, Column: "2", Second: "1"}, " X A #\n", []string{" X A #\n"}},
		{Options{Format: CSV}, "# a\n\n#\n A,#\n#\nB\n", []string{" A,#\n", "B\n"}},
	} {
		tt.o.Rows, tt.o.Comments, tt.o.Trim, tt.o.Lower = true, "#", true, true
		for _, block := range []int{1, 3, blockSize} {
			var rows, keys, seconds []string
			err := open(t, tt.o, block, tt.text).Process(t.Context(), 2, nil, func(b *Batch) error {
				for i := range b.Keys {
					rows, keys = append(rows, string(b.Rows[i])), append(keys, string(b.Keys[i]))
				}
				for _, second := range b.Second {
					seconds = append(seconds, string(second))
				}
				return nil
			})
			if err != nil || !slices.Equal(rows, tt.rows) || !slices.Equal(keys, []string{"a", "b"}[:len(rows)]) ||
				tt.o.Second != "" && !slices.Equal(seconds, []string{"X"}) {
				t.Errorf("%s, blocks of %d: rows %q, keys %q, seconds %q, %v", tt.o.Format, block, rows, keys, seconds, err)
			}
		}
	}
}

func TestCommentsErrors(t *testing.T) {
	for _, o := range []Options{
		{Comments: " #"}, {Comments: "#\n"}, {Comments: "#\x00"}, {Format: CSV, Comments: "//"},
		{Format: CSV, Comments: ","}, {Format: CSV, Comments: "\""}, {Format: CSV, Comments: "\xff"},
		{Format: CSV, Comments: ";", Delimiter: ';'}, {Format: Fields, Delimiter: '·'}, {Format: Fields, Delimiter: -1},
		{Format: Fields, Delimiter: '\n'}, {Format: TSV, Delimiter: ':'},
	} {
		if _, err := o.check(); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func BenchmarkPrepare(b *testing.B) {
	for _, o := range []Options{{}, {Comments: "#"}, {Trim: true}, {Lower: true}, {Format: Fields}} {
		b.Run(fmt.Sprintf("op=count/format=%s/comments=%s/trim=%t/lower=%t", o.Format, o.Comments, o.Trim, o.Lower),
			func(b *testing.B) {
				in := benchInput(b, o)
				for b.Loop() {
					if n, err := in.Count(b.Context()); n != 1_000_000 || err != nil {
						b.Fatal(n, err)
					}
				}
			})
	}
}
