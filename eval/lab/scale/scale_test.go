package scale

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/hashes"
)

func TestConstants(t *testing.T) {
	if groupKeys != hashes.GroupKeys {
		t.Errorf("a group has %d keys, not %d", hashes.GroupKeys, groupKeys)
	}
}

// TestStage simulates stages whose times are known.
func TestStage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, second := range []bool{false, true} {
		for _, x := range []struct {
			s    stage
			time float64
		}{
			{stage{tasks: 100, workers: 10, by: 1}, 1},
			{stage{tasks: 101, workers: 10, by: 1}, 1},
			{stage{tasks: 7, workers: 10, by: 1}, 1},
			{stage{tasks: 100, workers: 10, slow: 1, by: 3}, 3},
		} {
			x.s.second = second
			got := x.s.run(r)
			if math.Abs(got.time-x.time) > 1e-9 {
				t.Errorf("%+v takes %g, want %g", x.s, got.time, x.time)
			}
			if !second && math.Abs(got.work-x.s.by) > 1e-9 {
				t.Errorf("%+v: work %g", x.s, got.work)
			}
		}
	}
}

// TestLosses compares the work with its expectation: an attempt of length 1 is lost with probability 1-e^-λ, and the
// mean time of all attempts until one succeeds is (e^λ-1)/λ.
func TestLosses(t *testing.T) {
	for _, lost := range []float64{0.01, 0.1, 0.5} {
		s := stage{tasks: 20_000, workers: 50, by: 1, lost: lost, restart: 1}
		got, want := s.run(rand.New(rand.NewPCG(3, 4))).work, math.Expm1(lost)/lost
		// One standard deviation of the work of a task is below 1.1·√λ here.
		if tol := 6 * 1.1 * math.Sqrt(lost/float64(s.tasks)); math.Abs(got-want) > tol {
			t.Errorf("%g losses: work %.4f, want %.4f ± %.4f", lost, got, want, tol)
		}
	}
}

// TestSecondAttempts requires that second attempts save time if slow workers are the last to end.
func TestSecondAttempts(t *testing.T) {
	s := stage{tasks: 200, workers: 200, slow: 0.05, by: 10, spread: 0.1}
	alone := s.run(rand.New(rand.NewPCG(5, 6)))
	s.second = true
	both := s.run(rand.New(rand.NewPCG(5, 6)))
	if alone.time < 8 || both.time > 4 {
		t.Errorf("time %g, with second attempts %g", alone.time, both.time)
	}
}

// TestDocumented runs both experiments and compares the results with the tables of docs/measured/scale.md, which show a
// part of them.
func TestDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text, err := os.ReadFile("../../../docs/measured/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	build, err := runBuild(t.Context(), experiment.Config{})
	if err != nil {
		t.Fatal(err)
	}
	stragglers, err := runStragglers(t.Context(), experiment.Config{})
	if err != nil {
		t.Fatal(err)
	}

	for _, part := range []struct {
		heading string
		lines   []string
		least   int // lines that the page shows
	}{
		{"## Computed builds\n", buildTable(build), 16}, {"## Stragglers and lost workers\n", stragglerTable(stragglers), 5},
	} {
		_, section, _ := strings.Cut(string(text), part.heading)
		section, _, _ = strings.Cut(section, "\n## ")
		shown := 0
		for line := range strings.Lines(section) {
			line = strings.TrimSuffix(line, "\n")
			if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| |") || strings.HasPrefix(line, "| stage") {
				continue
			}
			if shown++; !slices.Contains(part.lines, line) {
				t.Errorf("docs/measured/scale.md shows a line that the experiment does not give:\n%s", line)
			}
		}
		if shown < part.least {
			t.Errorf("%s shows %d lines, want %d", part.heading, shown, part.least)
		}
	}
}

// buildTable returns the lines of the tables of scale-build, one for each number, with a column for each job.
func buildTable(r figure.Result) (lines []string) {
	each := len(r.Rows) / len(jobs)
	for i := range each {
		_, line, _ := strings.Cut(r.Rows[i].Label, "MiB: ")
		for j := range jobs {
			line += " | " + number(r.Rows[j*each+i].Measured)
		}
		lines = append(lines, "| "+line+" |")
	}
	return lines
}

// stragglerTable returns the lines of the table of scale-stragglers: time and work, without and with second attempts.
func stragglerTable(r figure.Result) (lines []string) {
	for i := 0; i < len(r.Rows); i += 4 {
		name, _, _ := strings.Cut(r.Rows[i].Label, ": ")
		stage, trouble, _ := strings.Cut(name, " workers, ")
		line := "| " + stage + " workers | " + trouble
		for _, row := range r.Rows[i : i+4] {
			line += fmt.Sprintf(" | %.2f", row.Measured)
		}
		lines = append(lines, line+" |")
	}
	return lines
}

func number(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
