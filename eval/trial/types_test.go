package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

var types = flag.Bool("types", false, "write Parquet files of many types anew, by pip and Maven")

// TestTypesAnew finds the values of all columns in files that pyarrow, DuckDB and parquet-mr wrote: with -types just
// now, else the files in interop/testdata. A column without a type that values are converted to is an error for each.
func TestTypesAnew(t *testing.T) {
	folder := filepath.Join("..", "..", "interop", "testdata")
	if *types {
		folder = t.TempDir()
		if out, err := exec.Command(filepath.Join("parquet-types", "make.sh"), folder).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	list, err := os.ReadFile(filepath.Join(folder, "types.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]string{}
	for line := range strings.Lines(string(list)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		values[name] = append(values[name], value)
	}

	for writer, least := range map[string]int{"pyarrow": 15, "duckdb": 13, "parquet-mr": 15} {
		b, err := os.ReadFile(filepath.Join(folder, "types-"+writer+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		all, err := interop.Columns(bytes.NewReader(b), int64(len(b)))
		if err != nil || len(all) < least {
			t.Fatalf("%s: %d columns, %v", writer, len(all), err)
		}
		for _, c := range all {
			section := io.NewSectionReader(bytes.NewReader(b), c.Offset, c.Length)
			set, err := interop.ReadAs(section, interop.Parquet, c.Form, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			found, refused := 0, 0
			for _, v := range values[c.Name] {
				key, err := c.Form.AppendText(nil, v)
				if err != nil {
					refused++
				} else if set.Contains(key) {
					found++
				}
			}
			t.Logf("%-10s %-6s %-26s %d found, %d refused", writer, c.Name, c.Form, found, refused)
			if n := len(values[c.Name]); n == 0 || found != n && (c.Form.Type != filter.KeyFixed || refused != n) {
				t.Errorf("%s: %s: %d of %d values found, %d refused", writer, c.Name, found, n, refused)
			}
		}
	}
}
