package keyio

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

// utf16ed returns text as UTF-16.
func utf16ed(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// zstdInBzip2 begins as zstd does, compressed by bzip2.
const zstdInBzip2 = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x2b\x41\x2c\x66\x00\x00\x01\x50\x08\xc0\x00\x00" +
	"\x40\x82\x00\x00\x02\x20\x00\x21\x83\x41\x9a\x02\x23\x1c\x5d\xc9\x14\xe1\x42\x40\xad\x04" +
	"\xb1\x98"

func TestUnsupported(t *testing.T) {
	const text = "yopmail.com\nexample.org\n"
	tar := "keys.txt" + strings.Repeat("\x00", 249) + "ustar\x0000"
	for _, tt := range []struct{ name, data, found, advice string }{
		{"xz", "\xfd7zXZ\x00\x00\x04", "xz data", "xz -dc FILE | bloomery"},
		{"lz4", "\x04\x22\x4d\x18\x64", "lz4 data", "lz4 -dc"},
		{"lzma", "\x5d\x00\x00\x80\x00", "lzma data", "--format=lzma"},
		{"zip", "PK\x03\x04\x14\x00", "a zip archive", "unzip -p"},
		{"7z", "7z\xbc\xaf\x27\x1c\x00\x04", "a 7z archive", "7z x -so"},
		{"Parquet", "PAR1\x15\x00\x15", "a Parquet file", "export the column"},
		{"SQLite", "SQLite format 3\x00\x10", "an SQLite database", "sqlite3 FILE"},
		{"filter", "\x89BLMRY\r\n\x01\x00", "a filter of Bloomery", "name the list that"},
		{"tar", tar, "a tar archive", "tar -xOf"},
		{"UTF-16LE with BOM", "\xff\xfe" + utf16ed(binary.LittleEndian, text), "UTF-16 text", "iconv -f UTF-16 "},
		{"UTF-16BE with BOM", "\xfe\xff" + utf16ed(binary.BigEndian, text), "UTF-16 text", "iconv -f UTF-16 "},
		{"UTF-16, only BOM", "\xff\xfe", "UTF-16 text", "iconv"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32 text", "iconv -f UTF-32"},
		{"UTF-16LE", utf16ed(binary.LittleEndian, text), "UTF-16 text", "iconv -f UTF-16LE"},
		{"UTF-16BE", utf16ed(binary.BigEndian, text), "UTF-16 text", "iconv -f UTF-16BE"},
		{"UTF-16LE of Greek", utf16ed(binary.LittleEndian, strings.Repeat("κλειδί\r\n", 3)),
			"UTF-16 text", "UTF-16LE"},
		{"xz in gzip", gzipped(t, "\xfd7zXZ\x00\x00\x04"), "xz data in gzip data", "xz -dc FILE | bloomery ..., where FILE is the decompressed gzip data"},
		{"UTF-16 in zstd", zstded(t, "\xff\xfea\x00"), "UTF-16 text in zstd data", "iconv"},
		{"gzip in zstd", zstded(t, gzipped(t, text)), "gzip data in zstd data",
			"decompress it once first: zstd -dc FILE | bloomery"},
		{"gzip in gzip", gzipped(t, gzipped(t, text)), "gzip data in gzip data", "gzip -dc FILE | bloomery"},
		{"zstd in zstd in zstd", zstded(t, zstded(t, zstded(t, text))), "zstd data in zstd data", "zstd -dc FILE | bloomery"},
		{"bzip2 in gzip", gzipped(t, bzip2ed), "bzip2 data in gzip data", "gzip -dc FILE | bloomery"},
		{"zstd in bzip2", zstdInBzip2, "zstd data in bzip2 data", "bzip2 -dc FILE | bloomery"},
	} {
		for _, format := range []Format{Lines, CSV, TSV} {
			in := open(t, Options{Format: format}, blockSize, tt.data)
			_, err := keysOf(t, in)
			var e *UnsupportedError
			if !errors.As(err, &e) || e.Line != 0 {
				t.Errorf("%s as %s: %v", tt.name, format, err)
				continue
			}
			wantError(t, err, in.sources[0].path, tt.found, tt.advice)

			// Read the same bytes through a pipe.
			r, w := io.Pipe()
			go func() {
				io.WriteString(w, tt.data)
				w.Close()
			}()
			in, err = Open(nil, Options{Format: format, Stdin: r})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := keysOf(t, in); !errors.As(err, &e) {
				t.Errorf("%s as %s through a pipe: %v", tt.name, format, err)
			}
			r.Close()
		}
	}
}

// TestNul checks that a NUL byte in a line is an error with the number of the line.
func TestNul(t *testing.T) {
	for _, tt := range []struct {
		format Format
		text   string
		line   int64
	}{
		{Lines, "a\x00b\x00c\x00d\x00", 1},
		{Lines, "a\n\nb\nc\x00\nd\n", 4},
		{Lines, strings.Repeat("a\n", 1000) + "\x00", 1001},
		{CSV, "a,b\n1,\x00\n", 2},
		{CSV, "a,b\n\"1\n\",\x00\n", 3},
		{TSV, "a\tb\n1\t\x00\n", 2},
	} {
		for _, block := range []int{1, 7, blockSize} {
			in := open(t, Options{Format: tt.format}, block, tt.text)
			_, err := keysOf(t, in)
			var e *UnsupportedError
			if !errors.As(err, &e) || e.Line != tt.line {
				t.Errorf("%s %.20q: %v, want line %d", tt.format, tt.text, err, tt.line)
				continue
			}
			wantError(t, err, in.sources[0].path, "NUL byte")
			if tt.format == Lines {
				wantError(t, err, "-0 (--null)")
			}
		}
	}
	got, err := keysOf(t, open(t, Options{Format: Null}, 3, "./a\nb\x00\x00./c\r\x00d", "e"))
	if want := "./a\nb|./c\r|d|e"; err != nil || strings.Join(got, "|") != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestSignatures checks that every format that is not read has a name and advice, and no magic is listed twice.
func TestSignatures(t *testing.T) {
	for i, s := range signatures {
		if s.codec == "" && s.magic != bom && (s.what == "" || s.do == "") {
			t.Errorf("%q has no advice", s.magic)
		}
		for _, other := range signatures[:i] {
			if s.magic == other.magic {
				t.Errorf("%q is there twice", s.magic)
			}
		}
	}
}

func TestCompressed(t *testing.T) {
	for head, want := range map[string]bool{
		"": false, "a": false, "\x1f\x8b": false, "\x1f\x8b\x08": true, "\x28\xb5\x2f\xfdxyz": true, "BZh91AY&SY": true,
		"BZh9": false, bom: false, "PK\x03\x04": false, strings.Repeat("k", HeadSize): false,
	} {
		if got := Compressed([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
	for _, s := range signatures {
		if len(s.magic) > HeadSize {
			t.Errorf("HeadSize is %d, and a signature has %d bytes", HeadSize, len(s.magic))
		}
	}
}
