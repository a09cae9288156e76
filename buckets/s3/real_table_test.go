package s3_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/buckets/internal/reals3"
)

// columns has the columns of the table in README.md.
var columns = []string{"moto", "s3proxy", "s3mock"}

// table returns the cells of the table in README.md: what each server does.
func table(t *testing.T) map[reals3.Behaviour][]string {
	t.Helper()
	b, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[reals3.Behaviour][]string{}
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		if behaviour := reals3.Behaviour(strings.TrimSpace(cells[0])); slices.Contains(reals3.Behaviours(), behaviour) {
			rows[behaviour] = cells[1:]
		}
	}
	return rows
}

// TestTable: README.md has a row for every behaviour that is measured, and each cell is yes or no.
func TestTable(t *testing.T) {
	rows := table(t)
	for _, b := range reals3.Behaviours() {
		cells := rows[b]
		if len(cells) != len(columns) || slices.ContainsFunc(cells, func(c string) bool { return c != "yes" && c != "no" }) {
			t.Errorf("README.md: the row %q has the cells %q", b, cells)
		}
	}
}

// measured returns what a server lacks. For the servers of the table in README.md this must be what it says.
func measured(t *testing.T, s *reals3.Server) map[reals3.Behaviour]bool {
	t.Helper()
	rows, found := table(t), s.Measure(t)
	lacks := map[reals3.Behaviour]bool{}
	column := slices.Index(columns, s.Name)
	for _, b := range reals3.Behaviours() {
		lacks[b] = found[b] != nil
		if lacks[b] {
			t.Logf("NOT IMITATED: %s: %v", b, found[b])
		}
		if column < 0 || len(rows[b]) != len(columns) {
			continue
		}
		switch no := rows[b][column] == "no"; {
		case no == lacks[b]:
		case no && slices.Contains(reals3.Races, b):
			lacks[b] = true
			t.Logf("only one has won this time: %s", b)
		default:
			t.Errorf("README.md says %s for %s: %s", rows[b][column], s.Name, b)
		}
	}
	return lacks
}
