package plan

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
)

var update = flag.Bool("update", false, "write the table of docs/families/README.md")

// times returns the table of docs/families/README.md: the forecasts for a million keys at 1%.
func times() string {
	const keys, fpr = 1_000_000, 0.01
	table := families.Costs()
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s:\n\n", table.Machine, table.Go, table.Date)
	b.WriteString("| filter | bits per key | present | absent | far, present / absent | build | memory of the build |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|\n")
	for _, kind := range families.Forms() {
		row := Forecast(kind.With("fpr", fpr), keys)
		p, ok := table.At(kind, keys, fpr)
		far, _ := table.OutOfCache(kind, fpr)
		if !ok || row.Problem != "" {
			continue
		}
		fmt.Fprintf(&b, "| `%s` | %.1f | %.1f | %.1f | %.0f / %.0f | %.0f | %.1f |\n", kind, row.BitsPerKey,
			p.Present, p.Absent, far.Present, far.Absent, p.Build, table.Memory[kind.String()])
	}
	return b.String()
}

// TestPage compares the table of docs/families/README.md with the table of costs.
func TestPage(t *testing.T) {
	const path, begin, end = "../docs/families/README.md", "<!-- times -->\n", "<!-- end of times -->"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	was, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no table between %q and %q", path, begin, end)
	}
	now := times()
	switch {
	case was == now:
	case *update:
		if err := os.WriteFile(path, []byte(before+begin+now+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has other times than internal/families/costs.json: run go test ./plan -run TestPage -update", path)
	}
}

// TestPageSizes compares the sizes in README.md and docs/families/README.md with the forecasts.
func TestPageSizes(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| \\[?`([^`]+)`(?:\\]\\([^)]*\\))? \\| ([0-9.]+)(?: \\([^)]*\\))? / ([0-9.]+)(?: \\([^)]*\\))? \\|")
	for page, most := range map[string]int{"../README.md": 5, "../docs/families/README.md": 10} {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}

		rows := row.FindAllStringSubmatch(string(b), -1)
		if len(rows) != most {
			t.Errorf("%s has %d families, want %d", page, len(rows), most)
		}
		for _, r := range rows {
			spec, err := filter.ParseSpec(r[1])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			for i, rate := range []float64{0.01, 0.001} {
				said, err := strconv.ParseFloat(r[2+i], 64)
				got := Forecast(spec.With("fpr", rate), 1_000_000)
				if err != nil || got.Problem != "" || math.Abs(said-got.BitsPerKey) > 0.06+0.01*got.BitsPerKey {
					t.Errorf("%s: %s has %s bits per key at %g, the plan says %.2f %s",
						page, spec, r[2+i], rate, got.BitsPerKey, got.Problem)
				}
			}
		}
	}
}
