package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreats: every test and every file that docs/threats.md names exists.
func TestThreats(t *testing.T) {
	atRoot(t)
	page, err := os.ReadFile("docs/threats.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := 0
	word := regexp.MustCompile("`[a-z./-]+`|Test[A-Z][A-Za-z*]+")
	for line := range strings.Lines(string(page)) {
		room, declared := "", ""
		for _, w := range word.FindAllString(line, -1) {
			if w[0] == '`' {
				files, _ := filepath.Glob(filepath.Join(strings.Trim(w, "`"), "*_test.go"))
				if len(files) == 0 {
					continue // not a package
				}
				room, declared = w, ""
				for _, f := range files {
					b, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					declared += string(b)
				}
				continue
			}
			tests++
			name := strings.ReplaceAll(regexp.QuoteMeta(w), `\*`, `\w*`)
			if !regexp.MustCompile(`(?m)^func ` + name + `\(`).MatchString(declared) {
				t.Errorf("%s has no %s", room, w)
			}
		}
	}
	if tests < 80 {
		t.Errorf("%d tests are named", tests)
	}
	for _, f := range regexp.MustCompile("`[a-z/.-]+\\.(?:mjs|c)`").FindAllString(string(page), -1) {
		f = strings.Trim(f, "`")
		if !strings.Contains(f, "/") {
			f = "js/test/" + f
		}
		if _, err := os.Stat(f); err != nil {
			t.Error(err)
		}
	}
}
