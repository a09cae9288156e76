package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// online is the address of the repository's files in godoc and in pages outside of the repository.
const online = "https://github.com/bloomery/bloomery/blob/main/"

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	code    = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link    = regexp.MustCompile(`\]\(([^)\s]*)\)|<(?:img|source)[^>]* src(?:set)?="([^"]*)"`)
	address = regexp.MustCompile(regexp.QuoteMeta(online) + `[\w./#-]*[\w/]`)
	mention = regexp.MustCompile(`(^|[^\w./-])(docs/[\w./-]+\.(?:md|svg))\b`)
)

// tree calls visit with the path and the content of every text file of the repository.
func tree(t *testing.T, visit func(name, text string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		if e.IsDir() {
			switch e.Name() {
			case ".git", "node_modules", "testdata", "target", "dist", "bloomery_filters.egg-info":
				return filepath.SkipDir
			}
			return nil
		}

		switch filepath.Ext(name) {
		case ".md", ".go", ".ts", ".mjs", ".js", ".py", ".h", ".c", ".java", ".rs", ".html", ".toml", ".json", ".sh", "":
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			visit(filepath.ToSlash(name), string(b))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// anchors returns the anchors that GitHub generates for the headings of a page.
func anchors(page string) map[string]bool {
	names := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(h[1]))
		names[name] = true
	}
	return names
}

// checkTarget requires that a file of the repository exists, and that it contains the heading of an anchor.
func checkTarget(t *testing.T, from, target string) {
	t.Helper()
	name, anchor, _ := strings.Cut(target, "#")
	if _, err := os.Stat(name); err != nil {
		t.Errorf("%s: there is no %s", from, target)
		return
	}
	if anchor == "" || path.Ext(name) != ".md" {
		return
	}

	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !anchors(string(page))[anchor] {
		t.Errorf("%s: %s has no heading %s", from, name, anchor)
	}
}

// TestLinks checks the links of all pages, the addresses of files in this repository, and the pages of docs that
// comments and messages name. Every picture must be in a page.
func TestLinks(t *testing.T) {
	atRoot(t)
	links, pages := 0, ""
	tree(t, func(name, text string) {
		if path.Ext(name) == ".md" {
			pages += text
			prose := code.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
			for _, m := range link.FindAllStringSubmatch(prose, -1) {
				target := m[1] + m[2]
				if strings.Contains(target, ":") {
					continue
				}
				links++
				if strings.HasPrefix(target, "#") {
					target = path.Base(name) + target
				}
				checkTarget(t, name, path.Join(path.Dir(name), target))
			}
		}

		for _, a := range address.FindAllString(text, -1) {
			checkTarget(t, name, strings.TrimPrefix(a, online))
		}

		// The package of JavaScript has a folder docs, which its own files name.
		if !strings.HasPrefix(name, "js/") {
			for _, m := range mention.FindAllStringSubmatch(text, -1) {
				if m[2] != "docs/format/FAMILY.md" { // stands for all of them
					checkTarget(t, name, m[2])
				}
			}
		}
	})
	if links < 100 {
		t.Errorf("%d links", links)
	}

	for _, pattern := range []string{"docs/img/*.svg", "docs/measured/*.svg"} {
		pictures, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pictures {
			if !strings.Contains(pages, filepath.Base(p)) {
				t.Errorf("no page shows %s", p)
			}
		}
	}
}
