package parquetmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// golden returns a file of interop/testdata.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(b []byte) ([]Chunk, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// show returns a line for each chunk.
func show(chunks []Chunk) (lines []string) {
	for _, c := range chunks {
		name := strings.Join(c.Path, ".")
		lines = append(lines, fmt.Sprintf("%d %s %s %d %d", c.RowGroup, name, c.Type, c.Offset, c.Length))
	}
	return lines
}

// TestGolden compares our results with the metadata that pyarrow 26.0.1 (FileMetaData) and DuckDB 2.0.1
// (parquet_metadata) print for their files.
func TestGolden(t *testing.T) {
	for name, want := range map[string][]string{
		"pyarrow.parquet": {
			"0 id INT64 2050 47",
			"0 name BYTE_ARRAY 2097 80",
			"0 addr.city BYTE_ARRAY 2177 47",
			"1 id INT64 2224 47",
			"1 name BYTE_ARRAY 2271 80",
			"1 addr.city BYTE_ARRAY 2351 47",
		},
		"duckdb.parquet": {
			"0 id INT64 2872 144",
			"0 name BYTE_ARRAY 3016 144",
			"0 addr.city BYTE_ARRAY 3160 144",
			"1 id INT64 3304 144",
			"1 name BYTE_ARRAY 3448 144",
			"1 addr.city BYTE_ARRAY 3592 144",
		},
	} {
		chunks, err := read(golden(t, name))
		if err != nil || !slices.Equal(show(chunks), want) {
			t.Errorf("%s: %q, want %q, %v", name, show(chunks), want, err)
		}
	}
}

// file returns a Parquet file with the given footer and ten bytes of data.
func file(footer string) []byte {
	b := append([]byte("PAR1 ten bytes."), footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
}

// column returns a footer with one row group and one column chunk named a, with the given fields after the path.
func column(fields string) []byte {
	return file("\x49\x1c\x19\x1c\x3c\x15\x04\x29\x18\x01a" + fields + "\x00\x00\x00\x00")
}

// TestFields reads footers in all forms of the protocol.
func TestFields(t *testing.T) {
	const group, chunk = "\x49\x1c\x19\x1c", "\x15\x04\x29\x18\x01a"
	for name, c := range map[string]struct {
		b    []byte
		want []string
	}{
		"delta":     {column("\xb6\x0a\x15\x04"), []string{"0 a INT64 5 2"}},
		"long ids":  {column("\x06\x1c\x0a\x05\x1e\x04"), []string{"0 a INT64 5 2"}},
		"no length": {column("\xb6\x0a"), []string{"0 a INT64 5 0"}},
		"no filter": {column(""), nil},
		"no groups": {file("\x00"), nil},
		"skipped": {file("\x15\x02\x11\x12\x13\x07\x14\x02\x16\x02\x17" + "12345678" + "\x18\x03abc\x1b\x00" +
			"\x1b\x01\x81\x01\x02a\x1a\x21\x01\x02\x1d" + "0123456789abcdef" + "\x00"), nil},
		"wrong types":  {file("\x48\x01a\x00"), nil},
		"long list":    {file("\x49\xfc\x01\x19\x1c\x3c" + chunk + "\xb6\x0a\x00\x00\x00\x00"), []string{"0 a INT64 5 0"}},
		"unknown type": {file(group + "\x3c\x15\x7f\x29\x18\x01a\xb6\x0a\x00\x00\x00\x00"), []string{"0 a type -64 5 0"}},
		"bad text":     {file(group + "\x3c\x15\x04\x29\x18\x02\xff\xfe\xb6\x0a\x00\x00\x00\x00"), []string{"0 ? INT64 5 0"}},
		"later": {file("\x49\x2c\x19\x0c\x00\x19\x1c\x3c" + chunk + "\xb6\x0a\x00\x00\x00\x00"),
			[]string{"1 a INT64 5 0"}},
	} {
		chunks, err := read(c.b)
		if err != nil || !slices.Equal(show(chunks), c.want) {
			t.Errorf("%s: %q, want %q, %v", name, show(chunks), c.want, err)
		}
	}
}

// TestRefused checks that an invalid footer is an error with an offset.
func TestRefused(t *testing.T) {
	deep := strings.Repeat("\x1c", 100)
	for name, c := range map[string]struct {
		b    []byte
		err  error
		text string
	}{
		"short":      {[]byte("PAR1PAR1"), io.ErrUnexpectedEOF, "at byte 8"},
		"cut off":    {[]byte("PAR1 a file that ends"), io.ErrUnexpectedEOF, "ends with PAR1 at byte 21"},
		"encrypted":  {append(file("")[:15], "\x00\x00\x00\x00PARE"...), ErrEncrypted, "encrypted"},
		"too long":   {[]byte("PAR1 \xff\xff\xff\xffPAR1"), filter.ErrCorrupt, "longer than the file"},
		"empty":      {file(""), filter.ErrCorrupt, "1 bytes in a footer that has 0 more at byte 15"},
		"elsewhere":  {file("\x49\x1c\x19\x1c\x18\x01f\x2c\xe6\x0a\x00\x00\x00\x00"), ErrElsewhere, "other files"},
		"nested":     {file(deep), filter.ErrCorrupt, "nested too deep"},
		"lists":      {file("\x19" + strings.Repeat("\x19", 100)), filter.ErrCorrupt, "nested too deep"},
		"long":       {file("\x18\xff\x01"), filter.ErrCorrupt, "a length of 255"},
		"varint":     {file("\x16" + strings.Repeat("\xff", 11)), filter.ErrCorrupt, "64 bits"},
		"kind":       {file("\x1f"), filter.ErrCorrupt, "type 15"},
		"stops":      {file("\x19\xf0\x05"), filter.ErrCorrupt, "a length of 5"},
		"stop list":  {file("\x19\x50"), filter.ErrCorrupt, "type 0"},
		"before":     {column("\xb6\x06"), filter.ErrCorrupt, `column "a" is not within`},
		"behind":     {column("\xb6\x1e"), filter.ErrCorrupt, "not within"},
		"negative":   {column("\xb6\x01"), filter.ErrCorrupt, "not within"},
		"too large":  {column("\xb6\x0a\x15\x80\x01"), filter.ErrCorrupt, "not within"},
		"below zero": {column("\xb6\x0a\x15\x01"), filter.ErrCorrupt, "not within"},
		"overflow":   {column("\xb6\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"), filter.ErrCorrupt, "not within"},
		"path": {file("\x49\x1c\x19\x1c\x3c\x39\xf8\xac\x02" + strings.Repeat("\x00", 400)), filter.ErrCorrupt,
			"below 256 names"},
		"name": {file("\x49\x1c\x19\x1c\x3c\x39\x18\x80\x80\x08" + strings.Repeat("n", 1<<17)), filter.ErrCorrupt,
			"a name of 131072 bytes"},
	} {
		chunks, err := read(c.b)
		var at *container.FormatError
		if chunks != nil || !errors.Is(err, c.err) || !errors.As(err, &at) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, %q, want %q", name, err, show(chunks), c.text)
		}
	}
}

// TestDamaged checks that each truncation of a footer is an error, and each flipped bit is an error or a list of places
// within the file.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"pyarrow.parquet", "duckdb.parquet"} {
		b := golden(t, name)
		start := len(b) - tail - int(binary.LittleEndian.Uint32(b[len(b)-tail:]))
		footer := string(b[start : len(b)-tail])
		for n := range footer {
			if _, err := read(file(footer[:n])); err == nil {
				t.Fatalf("%s: %d bytes of a footer of %d are one", name, n, len(footer))
			}
		}
		refused := 0
		for i := start; i < len(b); i++ {
			for bit := range 8 {
				b[i] ^= 1 << bit
				if chunks, err := read(b); err != nil {
					refused++
				} else {
					within(t, chunks, len(b))
				}
				b[i] ^= 1 << bit
			}
		}
		t.Logf("%s: %d of %d refused", name, refused, 8*(len(b)-start))
	}
}

func within(t *testing.T, chunks []Chunk, size int) {
	t.Helper()
	for _, c := range chunks {
		if c.Offset < 4 || c.Length < 0 || c.Offset > int64(size) || c.Length > int64(size)-c.Offset {
			t.Fatalf("%+v in a file of %d bytes", c, size)
		}
	}
}

// TestBroken checks that the error of the reader is returned.
func TestBroken(t *testing.T) {
	b := golden(t, "pyarrow.parquet")
	for _, good := range []int{0, tail} {
		if _, err := Read(&failing{b, good}, int64(len(b))); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("only %d bytes can be read: %v", good, err)
		}
	}
}

// failing is a reader that can read only the last good bytes.
type failing struct {
	b    []byte
	good int
}

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	if at < int64(len(f.b)-f.good) {
		return 0, io.ErrClosedPipe
	}
	return bytes.NewReader(f.b).ReadAt(p, at)
}

// TestKept checks that the list needs at most 64 bytes per byte of the footer.
func TestKept(t *testing.T) {
	const n = 1 << 14
	chunk := "\x3c\xe6\x0a\x00\x00" // without a path, the shortest chunk
	var head bytes.Buffer
	head.WriteString("\x49\x1c\x19\xfc")
	head.Write(binary.AppendUvarint(nil, n))
	b := file(head.String() + strings.Repeat(chunk, n) + "\x00\x00")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	chunks, err := read(b)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || len(chunks) != n || after.HeapAlloc > before.HeapAlloc+64*uint64(len(b)) {
		t.Errorf("%d chunks, %v, %d bytes for %d", len(chunks), err, after.HeapAlloc-before.HeapAlloc, len(b))
	}
	runtime.KeepAlive(chunks)
}

// FuzzRead checks that arbitrary bytes are refused, or give places within the file.
func FuzzRead(f *testing.F) {
	seeds := [][]byte{golden(f, "pyarrow.parquet"), golden(f, "duckdb.parquet"), column("\xb6\x0a\x15\x04"), file("\x00")}
	for _, s := range seeds {
		if _, err := read(s); err != nil {
			f.Fatalf("a seed is no Parquet file: %v", err)
		}
		f.Add(s)
	}
	if len(seeds) != 4 {
		f.Fatalf("%d seeds", len(seeds))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if chunks, err := read(b); err == nil {
			within(t, chunks, len(b))
		}
		if chunks, err := read(file(string(b))); err == nil {
			within(t, chunks, len(b)+23)
		}
	})
}
