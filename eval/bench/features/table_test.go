package features

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const page = "../../../docs/measured/features.md"

// readTable returns the headings of the columns and the cells of each row of the first table of the page.
func readTable(t *testing.T) (columns []string, rows map[string][]string) {
	t.Helper()
	rows = map[string][]string{}
	for line := range strings.Lines(string(check(os.ReadFile(page)))) {
		if !strings.HasPrefix(line, "|") {
			if columns != nil {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case columns == nil:
			columns = cells[1:]
		case strings.HasPrefix(cells[0], "-"):
		default:
			if rows[cells[0]] != nil || len(cells) != len(columns)+1 {
				t.Fatalf("row %q: twice, or %d cells for %d columns", cells[0], len(cells)-1, len(columns))
			}
			rows[cells[0]] = cells[1:]
		}
	}
	return columns, rows
}

var (
	code = regexp.MustCompile("`([^`]+)`")
	link = regexp.MustCompile(`\(https://pkg\.go\.dev/github\.com/bloomery/bloomery#([A-Za-z0-9.]+)\)`)
)

// TestTable compares every cell of the page with the behavior of the library.
func TestTable(t *testing.T) {
	columns, rows := readTable(t)
	all := libraries()
	var names []string
	for _, l := range all {
		names = append(names, l.name)
	}
	if !slices.Equal(columns, names) {
		t.Fatalf("columns %q, want %q", columns, names)
	}
	if want := len(measured) + len(looks); len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	for row, cells := range rows {
		if measured[row] == nil && looks[row] == nil {
			t.Errorf("no test for row %q", row)
			continue
		}
		for i, l := range all {
			t.Run(row+"/"+l.name, func(t *testing.T) {
				word, _, _ := strings.Cut(cells[i], ":")
				if got := verdictOf(t, row, l); got != verdict(word) {
					t.Errorf("the page says %q, the test finds %q", cells[i], got)
				}
				checkNames(t, l, cells[i])
			})
		}
	}
}

// verdictOf measures or proves a cell, or shows that the library exports no name for the feature.
func verdictOf(t *testing.T, row string, l library) verdict {
	if measure := measured[row]; measure != nil {
		return measure(t, l, l.make())
	}
	if proof := l.proof[row]; proof != nil {
		return proof(t)
	}
	for _, n := range apiOf(t, l).names {
		if looks[row].MatchString(n) && innocent[l.name+" "+n] != row {
			t.Errorf("%s exports %s: prove what it does", l.name, n)
		}
	}
	return no
}

// checkNames checks that names in a cell are exported by the library. Ours are links to the documentation.
func checkNames(t *testing.T, l library, cell string) {
	names := apiOf(t, l).names
	for _, m := range code.FindAllStringSubmatch(cell, -1) {
		found := slices.ContainsFunc(names, func(n string) bool { return n == m[1] || strings.HasSuffix(n, "."+m[1]) })
		if !found && !strings.Contains(m[1], "[]") {
			t.Errorf("%s exports no %s", l.name, m[1])
		}
	}
	links := link.FindAllStringSubmatch(cell, -1)
	if l.path == ours && len(links) == 0 {
		t.Errorf("%q has no link to the documentation", cell)
	}
	for _, m := range links {
		if !slices.Contains(names, m[1]) {
			t.Errorf("there is no %s", m[1])
		}
	}
}

// check returns v. It panics if err is not nil.
func check[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
