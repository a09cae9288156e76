package interop_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

var updateTypes = flag.Bool("update-types", false, "write the filters in testdata/types")

// formsOfTypes are the forms of the columns of types-NAME.parquet. DuckDB has no filters for decimals of 16 bytes;
// pyarrow writes decbin in 9 bytes.
var formsOfTypes = map[string]string{
	"i8": "int32", "i16": "int32", "i32": "int32", "i64": "int64", "u8": "uint32", "u16": "uint32", "u32": "uint32",
	"u64": "uint64", "date": "date", "dec9": "decimal32,scale=2", "dec18": "decimal64,scale=3",
	"dec38": "decimal,scale=6,width=16", "decbin": "decimal,scale=2", "text": "text", "double": "fixed,width=8",
}

// TestTypes reads the filters of columns of many types that pyarrow, DuckDB and parquet-mr wrote, and finds their values
// in text form and as integers. The filters in testdata/types are for the tests of other languages.
func TestTypes(t *testing.T) {
	values := map[string][]string{}
	for line := range strings.Lines(string(must(os.ReadFile(filepath.Join("testdata", "types.tsv"))))) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		values[name] = append(values[name], value)
	}
	for writer, columns := range map[string]int{"pyarrow": 15, "duckdb": 13, "parquet-mr": 15} {
		b := whole(t, "types-"+writer+".parquet")
		all, err := interop.Columns(bytes.NewReader(b), int64(len(b)))
		if err != nil || len(all) != columns {
			t.Fatalf("%s: %d columns, %v", writer, len(all), err)
		}
		for _, c := range all {
			want := formsOfTypes[c.Name]
			if writer == "pyarrow" && c.Name == "decbin" {
				want = "decimal,scale=2,width=9"
			}
			if c.Form.String() != want {
				t.Errorf("%s: %s has the form %s, want %s", writer, c.Name, c.Form, want)
			}
			section := io.NewSectionReader(bytes.NewReader(b), c.Offset, c.Length)
			set := must(interop.ReadAs(section, interop.Parquet, c.Form, 1<<20))
			if set.Info().Form != c.Form || !bytes.Equal(write(t, set, interop.Parquet), b[c.Offset:][:c.Length]) {
				t.Errorf("%s: %s: form %s, or other bytes", writer, c.Name, set.Info().Form)
			}
			findValues(t, set, writer+": "+c.Name, values[c.Name])

			path := filepath.Join("testdata", "types", writer+"-"+c.Name+".bloom")
			file := must(set.MarshalBinary())
			if *updateTypes {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, file, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(file, must(os.ReadFile(path))) {
				t.Errorf("%s differs: -update-types writes it", path)
			}
		}
	}
}

// findValues finds all values of a column, and few others.
func findValues(t *testing.T, set *bloomery.Set, what string, values []string) {
	t.Helper()
	form := set.Info().Form
	for _, v := range values {
		key, err := form.AppendText(nil, v)
		if form.Type == filter.KeyFixed {
			if !errors.Is(err, filter.ErrKeyType) || !strings.Contains(err.Error(), v) {
				t.Errorf("%s: %s is %x, %v", what, v, key, err)
			}
			continue
		}
		if err != nil || !set.Contains(key) {
			t.Errorf("%s lacks %s: %v", what, v, err)
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if form.Type == filter.KeyUint64 {
			var u uint64
			u, err = strconv.ParseUint(v, 10, 64)
			n = int64(u)
		}
		if err != nil {
			continue
		}
		many := make([]bool, 1)
		integers := bloomery.Keyed[uint64](set)
		if integers.ContainsMany(many, []uint64{uint64(n)}); !integers.Contains(uint64(n)) || !many[0] {
			t.Errorf("%s lacks the integer %d", what, n)
		}
	}

	integers, present := bloomery.Keyed[uint64](set), 0
	for i := range uint64(1000) {
		if integers.Contains(1_000_000 + i) {
			present++
		}
	}
	if present > 100 {
		t.Errorf("%s: %d of 1000 other integers are present", what, present)
	}
	if form.Type == filter.KeyInt32 && integers.Contains(1<<40) {
		t.Errorf("%s has an integer of 41 bits", what)
	}
}

// TestReadAs states the type of a Guava filter, and finds RedisBloom's integers as text.
func TestReadAs(t *testing.T) {
	ask := func(f interop.Format, form filter.KeyForm, set *bloomery.Set) (found int) {
		read := must(interop.ReadAs(bytes.NewReader(write(t, set, f)), f, form, 1<<20))
		for i := range uint64(500) {
			if bloomery.Keyed[uint64](read).Contains(i) {
				found++
			}
		}
		return found
	}
	guava := must(bloomery.New(bloomery.Config{Spec: "guava(fpr=0.001)", Keys: 500}))
	redis := must(bloomery.New(bloomery.Config{Spec: "redisbloom(fpr=0.001)", Keys: 500}))
	for i := range 500 {
		if err := errors.Join(guava.Add([]byte{byte(i), byte(i >> 8), 0, 0}), redis.AddString(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	if n := ask(interop.Guava, filter.KeyForm{Type: filter.KeyInt32}, guava); n != 500 {
		t.Errorf("%d of 500 integers of 32 bits", n)
	}
	if n := ask(interop.Guava, filter.KeyForm{}, guava); n > 10 {
		t.Errorf("%d of 500 integers of 64 bits", n)
	}
	read := must(interop.Read(bytes.NewReader(write(t, redis, interop.RedisBloom)), interop.RedisBloom, 1<<20))
	for i := range uint64(500) {
		if !bloomery.Keyed[uint64](read).Contains(i) {
			t.Errorf("RedisBloom lacks %d", i)
		}
	}
	in := bytes.NewReader(write(t, guava, interop.Guava))
	if _, err := interop.ReadAs(in, interop.Guava, filter.KeyForm{Scale: 1}, 1<<20); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("a scale without a decimal: %v", err)
	}
}
