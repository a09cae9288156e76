package keyio

import (
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestLines(t *testing.T) {
	checkKeys(t, Lines, []keysCase{
		{"empty file", Options{KeepEmpty: true}, []string{""}, nil},
		{"LF", Options{}, []string{"a\nb\n"}, []string{"a", "b"}},
		{"no last newline", Options{}, []string{"a\nb"}, []string{"a", "b"}},
		{"CRLF", Options{}, []string{"a\r\nb\r\n"}, []string{"a", "b"}},
		{"last CR without LF", Options{}, []string{"a\r\nb\r"}, []string{"a", "b"}},
		{"one CR goes", Options{}, []string{"a\r\r\n"}, []string{"a\r"}},
		{"lone CR stays", Options{}, []string{"a\rb\n\ra\n"}, []string{"a\rb", "\ra"}},
		{"empties skipped", Options{}, []string{"\n\r\na\n\n\r\n\nb\n\n"}, []string{"a", "b"}},
		{"empties kept", Options{KeepEmpty: true}, []string{"\n\r\na\n\nb\n\n"}, []string{"", "", "a", "", "b", ""}},
		{"two CRs are a key", Options{}, []string{"\r\r\n"}, []string{"\r"}},
		{"files do not join", Options{}, []string{"a", "b\n", "", "c"}, []string{"a", "b", "c"}},
		{"BOM", Options{}, []string{"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", "\xef\xbb\xbf", "\xef\xbb"},
			[]string{"a", "\xef\xbb\xbfb", "\xef\xbb"}},
		{"any bytes", Options{}, []string{"\x01\n\xff\xfe\n\x1f\x8b\n"}, []string{"\x01", "\xff\xfe", "\x1f\x8b"}},
		{"almost another format", Options{},
			[]string{"PAR1\n", "PK\n", "BZh9\n", "LZIP 1\n", "7z\n", "SQLite format 3\n", "\x1f", "P*M\n"},
			[]string{"PAR1", "PK", "BZh9", "LZIP 1", "7z", "SQLite format 3", "\x1f", "P*M"}},
		{"blank is not empty", Options{}, []string{" \n\t\n"}, []string{" ", "\t"}},
	})
}

// TestLinesRandom compares Process and Count with plainKeys. Blocks are so small that line ends fall on all block
// boundaries.
func TestLinesRandom(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, seed))
	for i := range 400 {
		text := randomText(rng, rng.IntN(400))
		block, maxKey, keep := 1+rng.IntN(50), 1+rng.IntN(60), rng.IntN(2) == 0
		format, end := Lines, "\n"
		if i%2 == 1 {
			format, end = Null, "\x00"
			text = strings.ReplaceAll(text, "b", end)
		}
		want, line := plainKeys(text, end, keep, maxKey)
		got, err := keysOf(t, open(t, Options{Format: format, KeepEmpty: keep, MaxKey: maxKey}, block, text))
		if line != 0 {
			if tooLong(err) != line {
				t.Fatalf("seed %d, input %d %q, max %d: error %v, want too long on line %d", seed, i, text, maxKey, err, line)
			}
			continue
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d, input %d %q, blocks of %d: %q, %v; want %q", seed, i, text, block, got, err, want)
		}
	}
}

func TestKeyTooLong(t *testing.T) {
	x := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name, text string
		line       int64 // 0: the key fits
	}{
		{"fits", "a\n" + x + "\nb", 0},
		{"fits with CR", "a\n" + x + "\r\nb", 0},
		{"fits at the end", "a\n" + x, 0},
		{"fits at the end with CR", "a\n" + x + "\r", 0},
		{"a byte more", "a\nb\n\n" + x + "y\n", 4},
		{"CR is the byte more", x + "\r\r\n", 1},
		{"at the end", "\n\n" + x + "y", 3},
		{"twice", "a\n" + x + x + "\n", 2},
		{"no end", strings.Repeat("a\n", 1000) + strings.Repeat(x, 1000), 1001},
	} {
		for _, block := range []int{1, 50, 101, 102, 103, 1000, blockSize} {
			in := open(t, Options{MaxKey: 100}, block, tt.text)
			if _, err := keysOf(t, in); tooLong(err) != tt.line {
				t.Errorf("%s, blocks of %d: %v; want line %d", tt.name, block, err, tt.line)
			} else if err != nil {
				wantError(t, err, in.sources[0].path, "longer than 100 bytes")
			}
		}
	}
}

// zeros is an endless line.
type zeros struct{ n atomic.Int64 }

func (z *zeros) Read(p []byte) (int, error) {
	z.n.Add(int64(len(p)))
	clear(p)
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	z := new(zeros)
	in, err := Open(nil, Options{Stdin: z})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := count(in); tooLong(err) != 1 {
		t.Errorf("error %v, want a key too long on line 1", err)
	}
	runtime.ReadMemStats(&after)
	if n := z.n.Load(); n > 2<<20 {
		t.Errorf("read %d bytes of a line that may have %d", n, DefaultMaxKey)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("allocated %d bytes", got)
	}
}

func TestLongLinesThroughGzip(t *testing.T) {
	// Lines of 1 MB arrive in pieces of the window of the decompressor; each grows the buffer.
	line := strings.Repeat("k", DefaultMaxKey)
	got, err := keysOf(t, open(t, Options{}, blockSize, gzipped(t, line+"\nshort\n"+line)))
	if err != nil || !slices.Equal(got, []string{line, "short", line}) {
		t.Errorf("%d keys, %v", len(got), err)
	}
}

func TestBatchLine(t *testing.T) {
	text := strings.Repeat("\n\n\r\na\nb\n", 50)
	in := open(t, Options{}, 16, text, text)
	var batches, keys int
	err := in.Process(t.Context(), 2, nil, func(b *Batch) error {
		batches++
		keys += len(b.Keys)
		line := strings.Split(text, "\n")[b.Line-1]
		if line != string(b.Keys[0]) {
			t.Errorf("line %d of %s is %q, but the first key is %q", b.Line, b.Input, line, b.Keys[0])
		}
		if b.Input != in.sources[0].path && b.Input != in.sources[1].path {
			t.Errorf("batch of %q", b.Input)
		}
		return nil
	})
	if err != nil || batches < 20 || keys != 200 {
		t.Errorf("%d batches, %d keys, %v", batches, keys, err)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	in, err := Open(nil, Options{Stdin: &lineReader{n: 10, err: broken}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = count(in)
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	wantError(t, err, "standard input")
	in, _ = Open(nil, Options{Stdin: &lineReader{n: 10, err: io.EOF}})
	if n, err := count(in); n != 10 || err != nil {
		t.Errorf("Count = %d, %v", n, err)
	}
}

func TestHex(t *testing.T) {
	checkKeys(t, Hex, []keysCase{
		{"empty file", Options{KeepEmpty: true}, []string{""}, nil},
		{"both cases", Options{}, []string{"6a6B\n4F\n"}, []string{"jk", "O"}},
		{"all bytes", Options{}, []string{"000a0d09ff\n0a\n00\n"}, []string{"\x00\n\r\t\xff", "\n", "\x00"}},
		{"CRLF, no last newline", Options{}, []string{"61\r\n62"}, []string{"a", "b"}},
		{"empties skipped", Options{}, []string{"\n\r\n61\n\n62\n\n"}, []string{"a", "b"}},
		{"empties kept", Options{KeepEmpty: true}, []string{"\n\r\n61\n\n62\n"}, []string{"", "", "a", "", "b"}},
	})
}

// TestHexErrors checks the line number of an error after keys that contain line ends.
func TestHexErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"0a0a0a\n\n0a\n6\n", ":4: not a key in hexadecimal digits"},
		{"0a0a\nzz\n", ":2: not a key in hexadecimal digits"},
		{"61 62\n", ":1: not a key"},
		{"0x61\n", ":1: not a key"},
		{"0a0a\n61\x00\n", ":2: not a key"},
	} {
		for _, block := range []int{1, 3, blockSize} {
			_, err := keysOf(t, open(t, Options{Format: Hex}, block, tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q, blocks of %d: error %v; want %q", tt.text, block, err, tt.want)
			}
		}
	}
	for _, tt := range []struct {
		text string
		line int64 // line of the long key; 0: none is too long
	}{
		{"0a0a\n616263\n", 0},
		{"0a0a\r\n616263\r\n", 0},
		{"0a0a\n61626364\n", 2},
		{"0a0a\n" + strings.Repeat("6", 2000) + "\n", 2},
	} {
		for _, block := range []int{1, 3, blockSize} {
			_, err := keysOf(t, open(t, Options{Format: Hex, MaxKey: 3}, block, tt.text))
			var long *KeyTooLongError
			if errors.As(err, &long) != (tt.line > 0) || long != nil && long.Line != tt.line {
				t.Errorf("%.20q, blocks of %d: error %v; want line %d", tt.text, block, err, tt.line)
			}
		}
	}
	for _, o := range []Options{{Column: "2"}, {Header: true}, {Rows: true}, {Second: "2"}, {Delimiter: ';'}} {
		o.Format = Hex
		if _, err := o.check(); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestHexRandom reads keys of any bytes.
func TestHexRandom(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 100 {
		var text strings.Builder
		var want []string
		for range rng.IntN(200) {
			key := make([]byte, rng.IntN(20))
			for i := range key {
				key[i] = byte(rng.Uint32())
			}
			want = append(want, string(key))
			text.WriteString(hex.EncodeToString(key) + "\n")
		}
		got, err := keysOf(t, open(t, Options{Format: Hex, KeepEmpty: true}, 1+rng.IntN(60), text.String()))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: %q, %v", text.String(), got, err)
		}
	}
}

func TestTSV(t *testing.T) {
	checkKeys(t, TSV, []keysCase{
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
	})
}

func TestTSVErrors(t *testing.T) {
	checkErrors(t, TSV, []errorCase{
		{"short row", Options{Column: "3"}, "a\t1\tx\n\nb\t2\n", []string{":3:", "no column 3", "has 2"}},
		{"no such name", Options{Column: "key"}, "a\tb c\n", []string{`no column "key"`, `"a", "b c"`}},
		{"name twice", Options{Column: "b"}, "a\tb\tb\n", []string{"2 or 3"}},
		{"empty file", Options{Column: "b"}, "", []string{"is empty", "header row"}},
		{"long key", Options{MaxKey: 3}, "k\nabcd\tx\n", []string{":2:", "longer than 3"}},
		{"endless row", Options{}, "a\n" + strings.Repeat("b", 4<<20), []string{":2:", "row is longer"}},
	})
}
