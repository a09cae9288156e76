package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/steps"
)

type row struct {
	Number int64 `parquet:"number"`
	User   struct {
		ID    string  `parquet:"id,dict,zstd"`
		Email *string `parquet:"email,optional,snappy"`
	} `parquet:"user"`
	Tags  []string `parquet:"tags,list"`
	Plain []byte   `parquet:"plain"`
	Score float64  `parquet:"score"`
	Class uint32   `parquet:"class"`
	Level *int32   `parquet:"level,optional"`
	Count int64    `parquet:"count,delta"`
	Fast  string   `parquet:"fast,lz4"`
}

// file writes rows in row groups of 100, and returns the object and the keys of each column.
func file(t *testing.T, rows int) (steps.Object, map[string][]string) {
	want := map[string][]string{}
	add := func(column, key string) { want[column] = append(want[column], key) }
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for i := range rows {
		level := int32(i % 7)
		r := row{
			Number: int64(i) - 3, Plain: fmt.Appendf(nil, "p%d", i), Class: 1<<32 - 1 - uint32(i), Count: int64(i) - 8,
		}
		if i%9 > 0 {
			r.Level = &level
		}
		add("number", string(binary.LittleEndian.AppendUint64(nil, uint64(r.Number))))
		r.User.ID = fmt.Sprintf("user-%d", i%50)
		add("user.id", r.User.ID)
		if i%3 == 0 {
			mail := fmt.Sprintf("%d@example.com", i)
			r.User.Email = &mail
			add("user.email", mail)
		}
		for j := range i % 3 {
			r.Tags = append(r.Tags, fmt.Sprint(i, j))
			add("tags.list.element", r.Tags[j])
		}
		if i%10 == 0 {
			r.Plain = nil // an empty value is not a key
		} else {
			add("plain", string(r.Plain))
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return object1(t, b.Bytes()), want
}

func object1(t *testing.T, b []byte) steps.Object {
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return steps.Object{Name: path, Size: int64(len(b))}
}

// read returns the keys of some spans.
func read(t *testing.T, o steps.Object, k steps.KeyFormat, spans ...steps.Span) ([]string, error) {
	return readValues(t, o, k, 0, spans...)
}

// readValues returns the keys of some spans, as "key=value" with values of bits bits.
func readValues(t *testing.T, o steps.Object, k steps.KeyFormat, bits int, spans ...steps.Span) (
	keys []string, err error,
) {
	for _, s := range spans {
		units := int64(0)
		err = Format{}.Read(t.Context(), steps.Files(), o, s, steps.Reading{
			Keys: k, ValueBits: bits, Work: func(*keyio.Batch) error { return nil },
			Progress: func(u int64) { units = u },
			Emit: func(b *keyio.Batch) error {
				for i, key := range b.Keys {
					if bits > 0 {
						key = fmt.Appendf(key, "=%d", b.Values[i])
					}
					keys = append(keys, string(key))
				}
				return nil
			},
		})
		if err != nil {
			return keys, err
		}
		if units > s.Length {
			t.Errorf("progress %d of %d", units, s.Length)
		}
	}
	return keys, nil
}

func TestColumns(t *testing.T) {
	o, want := file(t, 1050)
	for column, keys := range want {
		for _, size := range []int64{1, 2000, o.Size} {
			spans, err := Format{}.Split(t.Context(), steps.Files(), o, size)
			if err != nil {
				t.Fatal(err)
			}
			if n := map[bool]int{true: 11, false: 1}[size < o.Size]; size != 2000 && len(spans) != n {
				t.Errorf("size %d: %d spans, want %d", size, len(spans), n)
			}
			end := int64(0)
			for _, s := range spans {
				if s.Offset != end || s.Length <= 0 {
					t.Fatalf("spans %v", spans)
				}
				end += s.Length
			}
			got, err := read(t, o, steps.KeyFormat{Column: column}, spans...)
			if err != nil || end != o.Size || !slices.Equal(got, keys) {
				t.Errorf("column %s in spans of %d: %d keys, want %d; %v", column, size, len(got), len(keys), err)
			}
		}
	}
	got, err := read(t, o, steps.KeyFormat{Column: "plain", KeepEmpty: true}, steps.Span{Length: o.Size})
	if err != nil || len(got) != 1050 {
		t.Errorf("with empty keys: %d, %v", len(got), err)
	}
}

// TestValues reads columns of values together with columns of keys. Empty and null keys must have no value.
func TestValues(t *testing.T) {
	const rows = 1050
	o, keys := file(t, rows)
	for column, of := range map[string]func(i int) bool{
		"number":     func(int) bool { return true },
		"plain":      func(i int) bool { return i%10 != 0 },
		"user.email": func(i int) bool { return i%3 == 0 },
	} {
		var want []string
		for i := range rows {
			if of(i) {
				want = append(want, fmt.Sprintf("%s=%d", keys[column][len(want)], 1<<32-1-int64(i)))
			}
		}
		for _, size := range []int64{2000, o.Size} {
			spans, err := Format{}.Split(t.Context(), steps.Files(), o, size)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readValues(t, o, steps.KeyFormat{Column: column, ValueColumn: "class"}, 32, spans...)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, spans of %d: %d keys, want %d; %v", column, size, len(got), len(want), err)
			}
		}
	}
}

func TestValueErrors(t *testing.T) {
	o, _ := file(t, 1050)
	for _, tt := range []struct {
		k    steps.KeyFormat
		says string
	}{
		{steps.KeyFormat{Column: "plain"}, "name the column of the values"},
		{steps.KeyFormat{Column: "plain", ValueColumn: "clas"}, `no column "clas"`},
		{steps.KeyFormat{Column: "plain", ValueColumn: "score"}, `type DOUBLE; values have one of [INT32 INT64]`},
		{steps.KeyFormat{Column: "tags.list.element", ValueColumn: "class"}, "is in a list"},
		{steps.KeyFormat{Column: "plain", ValueColumn: "level"}, `key "p9": it has no value`},
		{steps.KeyFormat{Column: "plain", ValueColumn: "count"}, `key "p1": value -7: want a whole number`},
	} {
		_, err := readValues(t, o, tt.k, 32, steps.Span{Length: o.Size})
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), o.Name) {
			t.Errorf("error %v; want %q", err, tt.says)
		}
	}
}

func TestErrors(t *testing.T) {
	o, _ := file(t, 10)
	for _, tt := range []struct {
		k    steps.KeyFormat
		says string
	}{
		{steps.KeyFormat{}, "name the column"},
		{steps.KeyFormat{Column: "mail"}, `no column "mail"; the columns are "number", "user.id"`},
		{steps.KeyFormat{Column: "user"}, `no column "user"`},
		{steps.KeyFormat{Column: "score"}, "has the type DOUBLE; keys have one of [BYTE_ARRAY"},
		{steps.KeyFormat{Column: "fast"}, `column "fast" is compressed with LZ4_RAW`},
		{steps.KeyFormat{Column: "user.id", MaxKey: 3}, ":1: key is longer than 3 bytes"},
	} {
		_, err := read(t, o, tt.k, steps.Span{Length: o.Size})
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), o.Name) {
			t.Errorf("error %v; want %q", err, tt.says)
		}
	}
}

// TestDamaged truncates a file at every length and flips each byte. Reading must return keys or an error that names the
// file, and must not panic.
func TestDamaged(t *testing.T) {
	o, _ := file(t, 4)
	b, err := os.ReadFile(o.Name)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, b []byte) error {
		if err := os.WriteFile(o.Name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		o := steps.Object{Name: o.Name, Size: int64(len(b))}
		_, err := Format{}.Split(t.Context(), steps.Files(), o, 100)
		for _, column := range []string{"user.id", "number"} {
			if err == nil {
				_, err = read(t, o, steps.KeyFormat{Column: column}, steps.Span{Length: o.Size})
			}
			if err == nil {
				k := steps.KeyFormat{Column: column, ValueColumn: "class"}
				_, err = readValues(t, o, k, 32, steps.Span{Length: o.Size})
			}
		}
		if err != nil && !strings.Contains(err.Error(), o.Name) {
			t.Errorf("%s: error %v does not name the file", what, err)
		}
		return err
	}
	for n := range b {
		if check(fmt.Sprint("cut at ", n), b[:n]) == nil {
			t.Errorf("cut at %d: no error", n)
		}
	}
	for i := range b {
		damaged := bytes.Clone(b)
		damaged[i] ^= 1 << (i % 8)
		check(fmt.Sprint("byte ", i), damaged)
	}
}
