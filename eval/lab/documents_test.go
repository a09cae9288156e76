package lab

import (
	"regexp"
	"strings"
	"testing"
)

// TestDocuments requires that pages have distinct and safe file names, and that each experiment belongs to one
// document.
func TestDocuments(t *testing.T) {
	pages, names := map[string]bool{"index": true}, map[string]bool{}
	slug := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	for _, d := range Documents() {
		if !slug.MatchString(d.Page) || pages[d.Page] {
			t.Errorf("%q is no name of a page, or the name of another", d.Page)
		}
		pages[d.Page] = true
		if d.Title == "" || d.About == "" || len(d.Experiments) == 0 || d.Entries != nil {
			t.Errorf("%s: %q, %q, %d experiments", d.Page, d.Title, d.About, len(d.Experiments))
		}
		cited := 0
		for _, e := range d.Experiments {
			if names[e.Name] {
				t.Errorf("%s is in two documents", e.Name)
			}
			names[e.Name] = true
			if strings.HasPrefix(e.Source, d.Cited+", ") {
				cited++
			}
		}
		if d.Cited != "" && cited < len(d.Experiments)/2 {
			t.Errorf("%s: %d of %d sources begin with %q", d.Page, cited, len(d.Experiments), d.Cited)
		}
	}
	if all := Experiments(); len(all) != len(names) {
		t.Errorf("%d experiments, %d in documents", len(all), len(names))
	}
}
