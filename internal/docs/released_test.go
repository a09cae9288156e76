package docs_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Before the first release pages say how to install from a clone, and after it from the registries, whose names the
// project holds then. testdata/install.txt has both texts of each page. The pages have the released texts if
// CHANGELOG.md has the heading of a version: TestVersion checks it, and turns headings and pages with -update-version.

// changelogs have a section for each version, the newest first.
var changelogs = []string{"CHANGELOG.md", "js/CHANGELOG.md"}

// unreleased is the heading of the section for the next version.
const unreleased = "## Unreleased"

var (
	section   = regexp.MustCompile(`(?m)^## .*$`)
	release   = regexp.MustCompile(`(?m)^## (\d\S*) \(\d{4}-\d\d-\d\d\)$`)
	installed = regexp.MustCompile(`(?m)^-- (\S+): (clone|released) --\n`)
)

// headed returns a changelog whose first section has the heading for a version: Unreleased if it ends in -dev, else the
// version and the date. A version that is released needs a section with text.
func headed(text, version string, date time.Time) (string, error) {
	places := section.FindAllStringIndex(text, 2)
	if len(places) == 0 {
		return "", errors.New("it has no section")
	}
	start, end, next := places[0][0], places[0][1], len(text)
	if len(places) == 2 {
		next = places[1][0]
	}

	first, dev := text[start:end], strings.HasSuffix(version, "-dev")
	if !dev && strings.TrimSpace(text[end:next]) == "" {
		return "", fmt.Errorf("section %q is empty: write what a user notices in %s", first, version)
	}

	head := release.FindStringSubmatch(first)
	switch {
	case dev && first == unreleased, !dev && head != nil && head[1] == version:
		return text, nil
	case dev:
		return text[:start] + unreleased + "\n\n" + text[start:], nil
	case first == unreleased:
		return text[:start] + "## " + version + " (" + date.UTC().Format(time.DateOnly) + ")" + text[end:], nil
	}
	return "", fmt.Errorf("the first section is %q: want %q before the release of %s", first, unreleased, version)
}

// TestHeaded releases versions of a changelog.
func TestHeaded(t *testing.T) {
	date := time.Date(2026, 12, 1, 1, 0, 0, 0, time.FixedZone("", 2*60*60)) // November in UTC
	for _, tt := range []struct{ text, version, want string }{
		{"# C\n\n## Unreleased\n\n- A\n", "1.0.0-dev", "# C\n\n## Unreleased\n\n- A\n"},
		{"# C\n\n## Unreleased\n\n- A\n", "1.0.0-rc.1", "# C\n\n## 1.0.0-rc.1 (2026-11-30)\n\n- A\n"},
		{"## 1.0.0-rc.1 (2026-11-01)\n\n- A\n", "1.0.0-rc.1", "## 1.0.0-rc.1 (2026-11-01)\n\n- A\n"},
		{"## 1.0.0-rc.1 (2026-11-01)\n\n- A\n", "1.0.0-dev", "## Unreleased\n\n## 1.0.0-rc.1 (2026-11-01)\n\n- A\n"},
		{"## Unreleased\n\n## 1.0.0-rc.1 (2026-11-01)\n\n- A\n", "1.0.0", "is empty"},
		{"## Unreleased\n", "1.0.0", "is empty"},
		{"## 1.0.0-rc.1 (2026-11-01)\n\n- A\n", "1.0.0", `want "## Unreleased"`},
		{"# C\n", "1.0.0", "no section"},
	} {
		got, err := headed(tt.text, tt.version, date)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != tt.want || !strings.Contains(got, tt.want) {
			t.Errorf("%q for %s: %q, want %q", tt.text, tt.version, got, tt.want)
		}
	}
}

// isReleased reports whether a version was released, so that the registries have the packages.
func isReleased(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	return release.Match(text)
}

// installTexts returns the texts of testdata/install.txt by page, for both positions: false for a clone, true for a
// release.
func installTexts(t *testing.T) map[bool]map[string]string {
	t.Helper()
	b, err := os.ReadFile("internal/docs/testdata/install.txt")
	if err != nil {
		t.Fatal(err)
	}
	signers, err := os.ReadFile(".github/allowed_signers")
	if err != nil {
		t.Fatal(err)
	}
	names, _, _ := strings.Cut(string(signers), " ")

	text := strings.ReplaceAll(string(b), "ADDRESS", strings.TrimPrefix(names, "bloomery,"))
	texts := map[bool]map[string]string{false: {}, true: {}}
	heads := installed.FindAllStringSubmatchIndex(text, -1)
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		texts[text[h[4]:h[5]] == "released"][text[h[2]:h[3]]] = text[h[1]:end]
	}
	if len(texts[false]) < 5 || len(texts[false]) != len(texts[true]) {
		t.Fatalf("%d and %d texts", len(texts[false]), len(texts[true]))
	}
	return texts
}

// installPages returns the pages that say how to install, as they are and for the position. Each must have its text for
// one position, once.
func installPages(t *testing.T, position bool) (now, turned map[string]string) {
	t.Helper()
	now, turned = map[string]string{}, map[string]string{}
	texts := installTexts(t)
	for name := range texts[position] {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		now[name] = string(b)
		here, other := texts[position][name], texts[!position][name]
		if strings.Count(now[name], here)+strings.Count(now[name], other) != 1 {
			t.Errorf("%s does not have one text of internal/docs/testdata/install.txt", name)
		}
		turned[name] = strings.Replace(now[name], other, here, 1)
	}
	return now, turned
}

// checkInstall requires that all pages say how to install in the position of CHANGELOG.md, or writes them.
func checkInstall(t *testing.T) {
	t.Helper()
	now, turned := installPages(t, isReleased(t))
	for name, text := range turned {
		checkText(t, name, now[name], text)
	}
	if isReleased(t) {
		return
	}
	tree(t, func(name, text string) {
		if line := fromRegistry.FindString(text); line != "" && !strings.HasPrefix(name, "internal/docs/") {
			t.Errorf("%s has the line %q before the first release, when the name may belong to somebody else", name, line)
		}
	})
}

// fromRegistry matches lines that install packages of npm and PyPI.
var fromRegistry = regexp.MustCompile(`npm (?:install|i|add) @?bloomery.*|pip install bloomery.*`)

// checkText requires that a file has a text, or writes it with -update-version.
func checkText(t *testing.T, file, text, want string) {
	t.Helper()
	switch {
	case text == want:
	case !*updateVersion:
		t.Errorf("%s is not for the version in %s: run this test with -update-version", file, versionFile)
	default:
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
