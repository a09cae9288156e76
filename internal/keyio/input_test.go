package keyio

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

func TestOpenErrors(t *testing.T) {
	file := write(t, "keys", "a\n")
	for _, tt := range []struct {
		name  string
		paths []string
		o     Options
		is    error
		says  string
	}{
		{"missing", []string{file, file + ".not"}, Options{}, fs.ErrNotExist, "keys.not"},
		{"directory", []string{t.TempDir()}, Options{}, nil, "is a directory"},
		{"stdin twice", []string{"-", "-"}, Options{}, nil, "twice"},
		{"format", []string{file}, Options{Format: "json"}, filter.ErrConfig, `"fields", "hex" or "jsonl"`},
		{"column of lines", []string{file}, Options{Column: "2"}, filter.ErrConfig, `"csv"`},
		{"header of lines", []string{file}, Options{Header: true}, filter.ErrConfig, `"csv"`},
		{"column of null", []string{file}, Options{Format: Null, Column: "2"}, filter.ErrConfig, `"csv"`},
		{"rows of hex", []string{file}, Options{Format: Hex, Rows: true}, filter.ErrConfig, `"csv"`},
		{"delimiter of lines", []string{file}, Options{Delimiter: ';'}, filter.ErrConfig, `only the formats "csv" and "fields"`},
		{"delimiter of TSV", []string{file}, Options{Format: TSV, Delimiter: ';'}, filter.ErrConfig, "has tabs"},
		{"quote as delimiter", []string{file}, Options{Format: CSV, Delimiter: '"'}, filter.ErrConfig, "one character"},
		{"column 0", []string{file}, Options{Format: CSV, Column: "0"}, filter.ErrConfig, "from 1"},
		{"max key below 0", []string{file}, Options{MaxKey: -1}, filter.ErrConfig, "max_key=-1"},
		{"max key too large", []string{file}, Options{MaxKey: maxMaxKey + 1}, filter.ErrConfig, "must be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Open(tt.paths, tt.o)
			wantError(t, err, tt.says)
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v does not wrap %v", err, tt.is)
			}
		})
	}
}

func TestFileVanishes(t *testing.T) {
	in := open(t, Options{}, blockSize, "a\n")
	os.Remove(in.sources[0].path)
	if _, err := count(in); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestStdin(t *testing.T) {
	file := write(t, "keys", "a\nb\n")
	in, err := Open([]string{file, "-"}, Options{Stdin: strings.NewReader(gzipped(t, "c\nd"))})
	if err != nil {
		t.Fatal(err)
	}
	if in.Rewindable() || in.Size() != -1 {
		t.Errorf("Rewindable %v, Size %d", in.Rewindable(), in.Size())
	}
	got, err := keysOf(t, in)
	if want := []string{"a", "b", "c", "d"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := count(in); !errors.Is(err, ErrNotRewindable) {
		t.Errorf("second pass: %v", err)
	}
}

func TestStdinRegularFile(t *testing.T) {
	f, err := os.Open(write(t, "keys", "skipped\na\nb\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(8, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	in, err := Open(nil, Options{Stdin: f})
	if err != nil {
		t.Fatal(err)
	}
	if !in.Rewindable() || in.Size() != 4 {
		t.Errorf("Rewindable %v, Size %d", in.Rewindable(), in.Size())
	}
	got, err := keysOf(t, in) // two passes
	if err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLive checks that a line becomes a batch while its writer still holds the pipe open.
func TestLive(t *testing.T) {
	for _, format := range []Format{Lines, CSV} {
		r, w := io.Pipe()
		in, err := Open(nil, Options{Format: format, Stdin: r})
		if err != nil {
			t.Fatal(err)
		}
		go io.WriteString(w, "first\n")
		var got []string
		err = in.Process(t.Context(), 2, nil, func(b *Batch) error {
			got = append(got, string(b.Keys[0]))
			if len(got) == 1 {
				go func() {
					io.WriteString(w, "second\n")
					w.Close()
				}()
			}
			return nil
		})
		if err != nil || !slices.Equal(got, []string{"first", "second"}) {
			t.Errorf("%s: %q, %v", format, got, err)
		}
	}
}

func TestCompression(t *testing.T) {
	text := randomText(randSeeded(4), 3000)
	want, _ := plainKeys(text+"last", "\n", false, DefaultMaxKey)
	skippable := "\x53\x2a\x4d\x18\x04\x00\x00\x00abcd"
	for _, tt := range []struct{ name, data string }{
		{"gzip", gzipped(t, text+"last")},
		{"gzip members", gzipped(t, text[:1000], text[1000:], "", "last")},
		{"zstd", zstded(t, text+"last")},
		{"zstd frames", zstded(t, text[:1000], text[1000:], "last")},
		{"zstd skippable", skippable + zstded(t, text+"last")},
		{"gzip, padded", gzipped(t, text+"last") + strings.Repeat("\x00", 100_000)},
		{"gzip members, padded", gzipped(t, text, "last") + "\x00"},
		{"BOM in gzip", gzipped(t, bom+text+"last")},
	} {
		got, err := keysOf(t, open(t, Options{}, 100, tt.data))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d keys, %v; want %d", tt.name, len(got), err, len(want))
		}
	}
}

// bzip2ed is the text of TestDamaged, as written by bzip2 -9.
const bzip2ed = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xf2\xde\xf9\xde\x00\x00\x25\x59\x80\x00\x10\x40\x04\x10\x00" +
	"\x26\x43\x9c\x40\x20\x00\x50\xa6\x00\x00\x2a\xa6\x91\xb4\x4f\x53\x23\x84\xe6\x48\xb2\xe4\x09\x2a\x48" +
	"\xb2\xaa\x06\xca\xab\x3d\xd8\xe8\xd5\x76\x70\x68\x92\x49\x3e\x2e\x5f\x27\xe2\xee\x48\xa7\x0a\x12\x1e" +
	"\x5b\xdf\x3b\xc0"

// TestDamaged truncates compressed inputs at every length, which must be an error, and flips each byte, which must be
// an error or leave the keys unchanged (padding).
func TestDamaged(t *testing.T) {
	text := "name\n" + strings.Repeat("some text\nand some more,2\n", 4) + "the end\n"
	for codec, data := range map[string]string{"gzip": gzipped(t, text), "zstd": zstded(t, text), "bzip2": bzip2ed} {
		from := len(slices.MaxFunc(signatures, func(a, b signature) int { // the magic must be whole
			return cmp.Compare(len(a.magic)*strings.Count(a.codec, codec), len(b.magic)*strings.Count(b.codec, codec))
		}).magic)
		for _, format := range []Format{Lines, CSV} {
			path := filepath.Join(t.TempDir(), "input")
			read := func(damaged string) ([]string, error) {
				if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
					t.Fatal(err)
				}
				in, err := Open([]string{path}, Options{Format: format})
				if err != nil {
					return nil, err
				}
				return keysOf(t, in)
			}
			whole, err := read(data)
			if err != nil {
				t.Fatal(err)
			}
			if codec == "bzip2" && format == Lines && strings.Join(whole, "\n")+"\n" != text {
				t.Errorf("bzip2: %q", whole)
			}
			for n := from; n < len(data); n++ {
				_, err := read(data[:n])
				wantError(t, err, path, codec)
			}
			for at := from; at < len(data); at++ {
				keys, err := read(data[:at] + string([]byte{data[at] ^ 0x10}) + data[at+1:])
				if err != nil {
					wantError(t, err, path, codec)
				} else if !slices.Equal(keys, whole) {
					t.Errorf("%s, %s, flip at %d of %d: %q", codec, format, at, len(data), keys)
				}
			}
		}
	}
}

func TestZstdWindow(t *testing.T) {
	// RFC 8878, 3.1.1.1.2: window descriptor 0x90 means 2^28 bytes; the frame has one raw block "a\n".
	in := open(t, Options{}, blockSize, "\x28\xb5\x2f\xfd\x00\x90\x11\x00\x00a\n")
	_, err := count(in)
	wantError(t, err, "window", in.sources[0].path)
	in = open(t, Options{}, blockSize, "\x28\xb5\x2f\xfd\x00\x88\x11\x00\x00a\n") // 2^27
	if n, err := count(in); n != 1 || err != nil {
		t.Errorf("Count = %d, %v", n, err)
	}
}

func TestProgress(t *testing.T) {
	var got []int64
	text := strings.Repeat("0123456789\n", 1000)
	for _, format := range []Format{Lines, CSV} {
		o := Options{Format: format, Progress: func(n int64) { got = append(got, n) }}
		in := open(t, o, 1000, text, gzipped(t, text), "", zstded(t, text))
		for range 2 { // each pass starts from 0
			got = nil
			if _, err := count(in); err != nil {
				t.Fatal(err)
			}
			if len(got) < 20 || !slices.IsSorted(got) || got[len(got)-1] != in.Size() {
				t.Errorf("%s: progress %v, want up to %d", format, got, in.Size())
			}
		}
	}
}

// TestChangedBetweenPasses checks that a second pass over a changed file fails, even if the file changes during that
// pass, and that a single pass does not fail.
func TestChangedBetweenPasses(t *testing.T) {
	path := write(t, "keys", "a\nb\n")
	grow := func() error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("c\n")
		return errors.Join(err, f.Close())
	}
	for _, o := range []Options{{}, {Format: CSV}} {
		open := func() *Input {
			in, err := Open([]string{path}, o)
			if err != nil {
				t.Fatal(err)
			}
			return in
		}
		in := open()
		for range 3 {
			if _, err := count(in); err != nil {
				t.Fatalf("nothing has changed: %v", err)
			}
		}
		if err := grow(); err != nil {
			t.Fatal(err)
		}
		if _, err := count(in); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), path) {
			t.Errorf("between passes: %v", err)
		}
		in = open()
		growing := func(*Batch) error { return grow() }
		if err := in.Process(t.Context(), 1, nil, growing); err != nil {
			t.Errorf("in the only pass: %v", err)
		}
		second := false
		o.Progress = func(int64) {
			if second {
				second = false
				if err := grow(); err != nil {
					t.Error(err)
				}
			}
		}
		in = open()
		if _, err := count(in); err != nil {
			t.Fatal(err)
		}
		second = true
		if _, err := count(in); !errors.Is(err, ErrChanged) {
			t.Errorf("in the second pass: %v", err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := Open(nil, Options{Stdin: f})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := count(in); err != nil {
		t.Fatal(err)
	}
	if err := grow(); err != nil {
		t.Fatal(err)
	}
	if _, err := count(in); !errors.Is(err, ErrChanged) {
		t.Errorf("standard input: %v", err)
	}
}

// TestOpenReader checks that a reader is read once, that errors contain its name, and that it is not decompressed with
// Plain.
func TestOpenReader(t *testing.T) {
	const text = bom + "a\nb"
	for _, tt := range []struct {
		text  string
		plain bool
		want  []string
	}{
		{text, false, []string{"a", "b"}},
		{text, true, []string{bom + "a", "b"}},
		{"\x1f\x8b\x08x\ny", true, []string{"\x1f\x8b\x08x", "y"}},
		{"PK\x03\x04\n", true, []string{"PK\x03\x04"}},
		{"", true, nil},
	} {
		in, err := OpenReader("part", strings.NewReader(tt.text), Options{Plain: tt.plain})
		if err != nil {
			t.Fatal(err)
		}
		got, err := keysOf(t, in)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q, plain %v: %q, %v", tt.text, tt.plain, got, err)
		}
		if _, err := keysOf(t, in); !errors.Is(err, ErrNotRewindable) {
			t.Errorf("a second pass: %v", err)
		}
	}
	in, err := OpenReader("part", strings.NewReader("a\nbcd"), Options{MaxKey: 2})
	if err == nil {
		_, err = keysOf(t, in)
	}
	wantError(t, err, "part:2:")
	if _, err := OpenReader("part", nil, Options{Format: "xml"}); err == nil {
		t.Error("no error for a format that does not exist")
	}
}
