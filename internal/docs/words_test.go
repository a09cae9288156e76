package docs_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// words lists the largest allowed numbers of words in pages, counted as by wc -w. A page belongs to the first group
// that matches its name.
var words = []struct {
	name  string
	pages *regexp.Regexp
	most  int
}{
	{"README.md", regexp.MustCompile(`^README\.md$`), 900},
	{"js/README.md", regexp.MustCompile(`^js/README\.md$`), 600},
	{"python/README.md", regexp.MustCompile(`^python/README\.md$`), 450},
	{"c/README.md", regexp.MustCompile(`^c/README\.md$`), 900},
	{"docs/format", regexp.MustCompile(`^docs/format(/.*)?\.md$`), 24_000},
	{"pages of eval/bench", regexp.MustCompile(`^docs/measured/(README|jobs|bench-.*|peers-.*)\.md$`), 8_000},
	// Pages of later features may raise this by 4,000 words in all.
	{"docs", regexp.MustCompile(`^docs/.*\.md$`), 28_000},
}

// TestWords limits the words of the pages, so that a page must be shortened when another one grows: before the first
// release and after it.
func TestWords(t *testing.T) {
	atRoot(t)
	for _, position := range []bool{false, true} {
		count := make([]int, len(words))
		_, turned := installPages(t, position)
		tree(t, func(name, text string) {
			text = cmp.Or(turned[name], text)
			for i, group := range words {
				if group.pages.MatchString(name) {
					count[i] += len(strings.Fields(text))
					return
				}
			}
		})

		for i, group := range words {
			t.Logf("released = %v: %s: %d words", position, group.name, count[i])
			if count[i] > group.most {
				t.Errorf("released = %v: %s: %d words, at most %d", position, group.name, count[i], group.most)
			}
		}
	}
}

// TestIndex requires that docs/README.md links to every page.
func TestIndex(t *testing.T) {
	atRoot(t)
	index, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"", "guides/", "reference/", "families/", "measured/", "papers/"} {
		pages, err := filepath.Glob("docs/" + folder + "*.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			// The index of a folder links to the pages that a program writes.
			name := strings.TrimPrefix(filepath.ToSlash(p), "docs/")
			if name != "README.md" && !strings.Contains(string(index), "("+name) &&
				!regexp.MustCompile(`^measured/(jobs|bench-.*|peers-.*)\.md$`).MatchString(name) {
				t.Errorf("docs/README.md has no link to %s", name)
			}
		}
	}
}
