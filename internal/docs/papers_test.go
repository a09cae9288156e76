package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPapers requires that docs/papers/README.md names files, tests and experiments that exist, that each row of the
// sources names a file or folder, that each row of the five documents also names an experiment or a test, that each use
// names something to take, something to see and a figure, and that each question has an answer and an experiment.
func TestPapers(t *testing.T) {
	atRoot(t)
	page, err := os.ReadFile("docs/papers/README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := fence.ReplaceAllString(string(page), "")

	experiments, tests := map[string]bool{}, map[string]bool{}
	const names = `(?:(?:ph|ptc|rih|plank|saha)-[a-z0-9]+|flows|hashes|onehit)`
	named := regexp.MustCompile(`"(` + names + `)"`)
	declared := regexp.MustCompile(`(?m)^func (Test\w+|Example\w+)\(`)
	tree(t, func(name, source string) {
		if strings.HasPrefix(name, "eval/lab/") {
			for _, m := range named.FindAllStringSubmatch(source, -1) {
				experiments[m[1]] = true
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range declared.FindAllStringSubmatch(source, -1) {
				tests[m[1]] = true
			}
		}
	})

	experiment := regexp.MustCompile(`^` + names + `$`)
	test := regexp.MustCompile(`^(?:Test|Example)[A-Z]\w*$`)
	file := regexp.MustCompile(`^[a-z]\w*/[\w./-]+$|^\w+\.go$`)
	files, experimentsSeen := 0, 0
	isFile := func(span string) bool { return file.MatchString(strings.Trim(span, "`")) }
	for _, span := range code.FindAllString(text, -1) {
		name := strings.Trim(span, "`")
		if isFile(span) {
			files++
			if _, err := os.Stat(name); err != nil {
				t.Errorf("there is no %s", name)
			}
		}
		if m, _, _ := strings.Cut(name, " "); experiment.MatchString(m) { // flags may follow
			experimentsSeen++
			if !experiments[m] {
				t.Errorf("there is no experiment %s", m)
			}
		}
		if test.MatchString(name) && !tests[name] {
			t.Errorf("there is no test %s", name)
		}
	}
	if files < 50 || experimentsSeen < 20 {
		t.Errorf("only %d files and %d experiments", files, experimentsSeen)
	}

	section := func(from, to string) (rows []string) {
		_, rest, _ := strings.Cut(text, from)
		part, _, _ := strings.Cut(rest, to)
		for _, line := range strings.Split(part, "\n") {
			if strings.HasPrefix(line, "| ") && !strings.HasSuffix(line, "| where |") {
				rows = append(rows, strings.Trim(line, "| "))
			}
		}
		return rows
	}
	measured := func(row string) bool {
		for _, span := range code.FindAllString(row, -1) {
			name, _, _ := strings.Cut(strings.Trim(span, "`"), " ")
			if experiment.MatchString(name) || test.MatchString(name) || strings.HasSuffix(name, "_test.go") {
				return true
			}
		}
		return false
	}
	for _, row := range section("\n### Partitioned hashing\n", "\n### D-left fingerprint tables\n") {
		if !measured(row) {
			t.Errorf("no experiment and no test in %s", row)
		}
	}
	questions := section("\n## Questions\n", "\n## Symbols\n")
	for _, row := range questions[min(1, len(questions)):] { // after the head of the table
		if cells := strings.Split(row, " | "); len(cells) != 4 || !measured(cells[3]) {
			t.Errorf("a question without an answer or an experiment: %s", row)
		}
	}
	for _, row := range section("\n## Sources\n", "\n## Patent\n") {
		cells := strings.Split(row, " | ")
		spans := code.FindAllString(cells[len(cells)-1], -1)
		if len(spans) == 0 || !isFile(spans[0]) {
			t.Errorf("no file in %s", row)
		}
	}

	uses := section("\n## Uses\n", "\n## Questions\n")
	if len(uses) < 10 {
		t.Errorf("only %d uses", len(uses))
	}
	digit := regexp.MustCompile(`\d`)
	for _, row := range uses[1:] { // after the head of the table
		cells := strings.Split(row, " | ")
		if len(cells) != 5 || !strings.Contains(cells[2], "`") || !strings.ContainsAny(cells[3], "`[") ||
			!digit.MatchString(cells[4]) {
			t.Errorf("a use without code, an example or a figure: %s", row)
		}
	}
}
