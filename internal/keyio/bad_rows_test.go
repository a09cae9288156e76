package keyio

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// number is a function for Options.Parse.
func number(second []byte) (uint64, error) { return strconv.ParseUint(string(second), 10, 64) }

// TestBadRows reads rows, some of which are bad, in blocks of any size. With Stop, only the keys before the first bad
// row are read; with Skip, the keys of all other rows.
func TestBadRows(t *testing.T) {
	x := strings.Repeat("x", 20)
	for _, tt := range []struct {
		name string
		o    Options
		text string
		keys string // keys with Skip, each with the number of its line
		bad  string // numbers of the lines of bad rows
	}{
		{"lines", Options{}, "a\n\x00\nb\nc\x00c\n\n" + x + "\nd\n" + x + x + x + "\r\ne\n\x00", "a1 b3 d7 e9",
			"2 4 6 8 10"},
		{"lines, empty", Options{KeepEmpty: true}, "\x00\n\n\nb\n", "2 3 b4", "1"},
		{"lines, all bad", Options{}, strings.Repeat("\x00\x00\n", 3), "", "1 2 3"},
		{"null", Options{Format: Null}, "a\x00" + x + x + "\x00b\x00" + x, "a1 b3", "2 4"},
		{"hex", Options{Format: Hex}, "61\n6\n62\n6g\n\n" + strings.Repeat("61", 20) + "\n63", "a1 b3 c7",
			"2 4 6"},
		{"tsv", Options{Format: TSV, Column: "k", Second: "n", Parse: number},
			"n\tk\n1\ta\n2\n3\tb\nx\tc\n4\t" + x + "\n\n5\td\n6\t\x00\n7\te\tx\x00\n8\t\n9\tf", "a2 b4 d8 f12",
			"3 5 6 9 10"},
		{"tsv, long row", Options{Format: TSV}, "a\n" + strings.Repeat("b", 3<<20) + "\nc\n", "a1 c3", "2"},
		{"csv", Options{Format: CSV, Column: "k", Second: "n", Parse: number, Rows: true},
			"n,k\n1,a\n2\n\"3\",\"b\"\nx,c\n4," + x + "\n\n5,d\n6,\x00\n7,\"e\",x\x00\n8,\n9,\"g\"g\n1,h\"h\n10,f",
			"a2 b4 d8 f14", "3 5 6 9 10 12 13"},
		{"jsonl", Options{Format: JSONL, Column: "k", Second: "n", Parse: number, Rows: true},
			`{"k":"a","n":1}` + "\n{\n{}\n" + `{"k":"b","n":2}` + "\n" + `{"k":"c","n":"x"}` + "\n" + `{"k":{},"n":3}` +
				"\n\n" + `{"k":["d","f"],"n":"4"}` + "\n" + `{"k":"` + x + `","n":5}` + "\n" + `{"k":"e"}` + "\n" +
				`{"k":["a",{}],"n":6}` + "\n" + `{"k":"a","n":7}` + "\x00\n" + `{"k":"a","n":8`,
			"a1 b4 d8 f8", "2 5 6 9 10 11 12 13"},
		{"jsonl, long row", Options{Format: JSONL, Column: "k"}, `{"k":"a"}` + "\n" + strings.Repeat("[", 3<<20) +
			"\n" + `{"k":"b"}`, "a1 b3", "2"},
		{"csv, first and last", Options{Format: CSV, Column: "2"}, "a\nb,c\n\"d,e\n", "c2", "1 3"},
	} {
		tt.o.MaxKey, tt.o.LineNumbers = 10, true
		for _, block := range []int{1, 3, 30, blockSize} {
			read := func(how BadRows) (keys []string, in *Input, err error) {
				tt.o.BadRows = how
				if in, err = OpenReader("in", strings.NewReader(tt.text), tt.o); err != nil {
					t.Fatal(err)
				}
				in.set.BlockSize = block
				err = in.Process(t.Context(), 3, nil, func(b *Batch) error {
					n := len(b.Keys)
					if len(b.LineNumbers) != n || tt.o.Rows && len(b.Rows) != n || b.Line != b.LineNumbers[0] {
						return fmt.Errorf("%d keys, %d numbers, %d rows, line %d", n, len(b.LineNumbers), len(b.Rows), b.Line)
					}
					for i, key := range b.Keys {
						keys = append(keys, fmt.Sprint(string(key), b.LineNumbers[i]))
						if tt.o.Rows && !strings.Contains(string(b.Rows[i]), string(key)) {
							t.Errorf("%s: row %q of %q", tt.name, b.Rows[i], key)
						}
						if tt.o.Parse != nil && fmt.Sprint(b.Values[i]) != string(b.Second[i]) && string(b.Second[i]) != "3" {
							t.Errorf("%s: value %d of %q", tt.name, b.Values[i], b.Second[i])
						}
					}
					return nil
				})
				return keys, in, err
			}
			bad := strings.Fields(tt.bad)
			keys, in, err := read(Skip)
			if got := strings.Join(keys, " "); got != tt.keys || err != nil {
				t.Errorf("%s, blocks of %d: %q, %v; want %q", tt.name, block, got, err, tt.keys)
			}
			n, first := in.Bad()
			if n != int64(len(bad)) {
				t.Errorf("%s, blocks of %d: %d bad rows, want %d", tt.name, block, n, len(bad))
			}
			wantError(t, first, "in:"+bad[0]+":")

			before, _, err := read(Stop)
			end := slices.IndexFunc(keys, func(key string) bool {
				line, _ := strconv.Atoi(strings.TrimLeft(key, "abcdef"))
				stop, _ := strconv.Atoi(bad[0])
				return line > stop
			})
			if end < 0 {
				end = len(keys)
			}
			keys = keys[:end]
			if !slices.Equal(before, keys) || !errors.As(err, new(*BadRowError)) || err.Error() != first.Error() {
				t.Errorf("%s, blocks of %d: %q, %v before the bad row; want %q, %v", tt.name, block, before, err, keys, first)
			}
		}
	}
}

// TestPass checks that with Pass, rows with NUL bytes are keys and are counted, and that other bad rows end the pass.
func TestPass(t *testing.T) {
	for _, block := range []int{1, 5, blockSize} {
		for format, text := range map[Format]string{
			Lines: "a\nb\x00\n\x00\r\nc\n", TSV: "a\nb\x00\tx\n\x00\nc\t\n",
		} {
			in := open(t, Options{Format: format, BadRows: Pass}, block, text)
			keys, err := keysOf(t, in)
			if want := []string{"a", "b\x00", "\x00", "c"}; err != nil || !slices.Equal(keys, want) {
				t.Errorf("%s: %q, %v; want %q", format, keys, err, want)
			}
			n, first := in.Bad()
			if n != 2 {
				t.Errorf("%s: %d rows with NUL bytes, want 2", format, n)
			}
			wantError(t, first, ":2: there is a NUL byte")
			in = open(t, Options{Format: format, BadRows: Pass, MaxKey: 3}, block, text+"long\nd\n")
			if keys, err = keysOf(t, in); tooLong(err) != 5 || len(keys) != 4 {
				t.Errorf("%s: %q, %v", format, keys, err)
			}
		}
	}
}

// TestNoBadRow checks that with any BadRows, an input that is not a list of keys, a header row with a NUL byte, and a
// row of CSV whose end is unknown are errors.
func TestNoBadRow(t *testing.T) {
	const text = "yopmail.com\nexample.org\n"
	for _, how := range []BadRows{Stop, Skip, Pass} {
		for _, format := range []Format{Lines, TSV, CSV} {
			if how == Pass && format == CSV {
				continue
			}
			o := Options{Format: format, BadRows: how}
			_, err := keysOf(t, open(t, o, blockSize, utf16ed(binary.LittleEndian, text)))
			wantError(t, err, "UTF-16")
			if format == Lines {
				continue
			}
			o.Header = true
			_, err = keysOf(t, open(t, o, blockSize, "k\x00\na\n"))
			wantError(t, err, ":1: there is a NUL byte")
		}
	}
	for _, text := range []string{
		"a\n\"b\nc\nd\n", "a\n\"b\nc\"\"\"d\ne\n", "a\nb\"\n\"c\n" + strings.Repeat("d\n", 2<<20),
	} {
		keys, err := keysOf(t, open(t, Options{Format: CSV, BadRows: Skip}, blockSize, text))
		if err == nil || !slices.Equal(keys, []string{"a"}) {
			t.Errorf("%.20q: %q, %v", text, keys, err)
		}
	}
}

// cancelling is an endless line that ends a pass after 8 MiB.
type cancelling struct {
	zeros
	cancel func()
}

func (c *cancelling) Read(p []byte) (int, error) {
	if c.n.Load() > 8<<20 {
		c.cancel()
	}
	return c.zeros.Read(p)
}

// TestSkipEndless cancels a pass within an endless line. The pass must keep only the beginning of the line in memory.
func TestSkipEndless(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, err := OpenReader("zeros", &cancelling{cancel: cancel}, Options{BadRows: Skip})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Count(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
