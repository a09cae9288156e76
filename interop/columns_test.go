package interop_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// whole returns a Parquet file of testdata.
func whole(t *testing.T, name string) []byte {
	t.Helper()
	b := must(os.ReadFile(filepath.Join("testdata", name)))
	return b
}

// TestColumns reads all filters of files that pyarrow and DuckDB wrote, and queries the values of the row groups.
func TestColumns(t *testing.T) {
	for name, first := range map[string][]int{"pyarrow.parquet": {0, 30, 60}, "duckdb.parquet": {0, 0, 0}} {
		b := whole(t, name)
		columns, err := interop.Columns(bytes.NewReader(b), int64(len(b)))
		if err != nil || len(columns) != 6 {
			t.Fatalf("%s: %+v, %v", name, columns, err)
		}
		for _, c := range columns {
			section := io.NewSectionReader(bytes.NewReader(b), c.Offset, c.Length)
			set, err := interop.Read(section, interop.Parquet, 1<<20)
			if err != nil {
				t.Fatalf("%s: %+v: %v", name, c, err)
			}
			if n := int64(len(write(t, set, interop.Parquet))); n != c.Length {
				t.Errorf("%s: %+v: a filter of %d bytes", name, c, n)
			}
			from, to := first[c.RowGroup], first[c.RowGroup+1]
			if to == from {
				to = 60 // all values are in each row group
			}
			absent, value := 0, map[string]string{"name": "key-%d", "addr.city": "city-%d"}[c.Name]
			for i := range 1000 {
				has := bloomery.Keyed[uint64](set).Contains(uint64(i))
				if c.Name != "id" {
					has = set.ContainsString(fmt.Sprintf(value, i))
				}
				if in := i >= from && i < to; in && !has {
					t.Errorf("%s: %+v lacks value %d", name, c, i)
				} else if !in && !has {
					absent++
				}
			}
			if absent < 700 {
				t.Errorf("%s: %+v: %d values are absent", name, c, absent)
			}
		}
	}
}

// TestColumnsNoLength checks that without a stated length, the header at the offset gives the length.
func TestColumnsNoLength(t *testing.T) {
	b := whole(t, "pyarrow.parquet")
	want := must(interop.Columns(bytes.NewReader(b), int64(len(b))))
	changed := 0
	for _, field := range []string{"\x15\x5e\x1c", "\x15\xa0\x01\x1c"} { // 47 and 80 bytes, then a struct
		other := "\xf5" + field[1:] // another field, which is not in Parquet
		changed += bytes.Count(b, []byte(field))
		b = bytes.ReplaceAll(b, []byte(field), []byte(other))
	}
	if changed != 6 {
		t.Fatalf("%d lengths in the footer", changed)
	}
	got, err := interop.Columns(bytes.NewReader(b), int64(len(b)))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
	b[want[0].Offset] = 0
	if _, err := interop.Columns(bytes.NewReader(b), int64(len(b))); !errors.Is(err, interop.ErrFormat) {
		t.Errorf("no filter at the offset: %v", err)
	}
}

// TestColumnsRefuse checks that input that is not a whole Parquet file is refused.
func TestColumnsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		err  error
	}{
		"a filter":  {string(file(t, "parquet")), interop.ErrFormat},
		"empty":     {"", interop.ErrFormat},
		"cut off":   {"PAR1 and more", io.ErrUnexpectedEOF},
		"encrypted": {"PAR1\x00\x00\x00\x00PARE", interop.ErrForm},
	} {
		r := bytes.NewReader([]byte(c.file))
		if columns, err := interop.Columns(r, r.Size()); columns != nil || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v", name, columns, err)
		}
	}
}

// TestDetectCutOff checks that the error for a file that begins with a valid header and is too short names the format
// and the place where the file ends.
func TestDetectCutOff(t *testing.T) {
	for _, g := range golden {
		b := file(t, g.name)
		for _, n := range []int{len(b) - 1, len(b) / 2} {
			if _, err := interop.Detect(bytes.NewReader(b[:n]), int64(n)); err == nil {
				t.Errorf("%s: %d of %d bytes are a file", g.name, n, len(b))
			} else if strings.HasPrefix(g.name, "xorf") {
				continue // half a filter looks like a filter with narrower slots
			} else if want := fmt.Sprintf("end of what looks like a %s filter of %d bytes at byte %d", g.format, len(b),
				n); !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, interop.ErrFormat) ||
				!bytes.Contains([]byte(err.Error()), []byte(want)) {
				t.Errorf("%s: %v, want %q", g.name, err, want)
			}
		}
	}
}
