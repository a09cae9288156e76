package keyio

import (
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
	for _, tt := range []struct {
		name  string
		files []string
		keep  bool
		want  []string
	}{
		{"empty file", []string{""}, true, nil},
		{"LF", []string{"a\nb\n"}, false, []string{"a", "b"}},
		{"no last newline", []string{"a\nb"}, false, []string{"a", "b"}},
		{"CRLF", []string{"a\r\nb\r\n"}, false, []string{"a", "b"}},
		{"last CR without LF", []string{"a\r\nb\r"}, false, []string{"a", "b"}},
		{"one CR goes", []string{"a\r\r\n"}, false, []string{"a\r"}},
		{"lone CR stays", []string{"a\rb\n\ra\n"}, false, []string{"a\rb", "\ra"}},
		{"empties skipped", []string{"\n\r\na\n\n\r\n\nb\n\n"}, false, []string{"a", "b"}},
		{"empties kept", []string{"\n\r\na\n\nb\n\n"}, true, []string{"", "", "a", "", "b", ""}},
		{"two CRs are a key", []string{"\r\r\n"}, false, []string{"\r"}},
		{"files do not join", []string{"a", "b\n", "", "c"}, false, []string{"a", "b", "c"}},
		{"BOM", []string{"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", "\xef\xbb\xbf", "\xef\xbb"}, false,
			[]string{"a", "\xef\xbb\xbfb", "\xef\xbb"}},
		{"any bytes", []string{"\x01\n\xff\xfe\n\x1f\x8b\n"}, false, []string{"\x01", "\xff\xfe", "\x1f\x8b"}},
		{"almost another format",
			[]string{"PAR1\n", "PK\n", "BZh9\n", "LZIP 1\n", "7z\n", "SQLite format 3\n", "\x1f", "P*M\n"}, false,
			[]string{"PAR1", "PK", "BZh9", "LZIP 1", "7z", "SQLite format 3", "\x1f", "P*M"}},
		{"blank is not empty", []string{" \n\t\n"}, false, []string{" ", "\t"}},
	} {
		for _, block := range []int{1, 2, 3, 7, blockSize} {
			got, err := keysOf(t, open(t, Options{KeepEmpty: tt.keep}, block, tt.files...))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s, blocks of %d: %q, %v; want %q", tt.name, block, got, err, tt.want)
			}
		}
	}
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
		line       int64 // 0: fits
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
