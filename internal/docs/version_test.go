package docs_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var updateVersion = flag.Bool("update-version", false, "write the version of internal/cli/VERSION into its copies")

// versionFile has the version that all modules and packages of the repository share, such as 1.0.0-rc.1.
const versionFile = "internal/cli/VERSION"

// semantic matches a version: numbers, and optionally a stage that Python knows.
var semantic = regexp.MustCompile(`^(\d+)\.(\d{1,3})\.(\d{1,3})(?:-(dev|rc\.(\d+)))?$`)

// versions returns the forms of the version in VERSION: as it is; as PEP 440 writes it, 1.0.0rc1 or 1.0.0.dev0; and as
// the number of the C header, without the stage.
func versions(t *testing.T) (plain, python, number string) {
	t.Helper()
	text, err := os.ReadFile(versionFile)
	if err != nil {
		t.Fatal(err)
	}
	plain = strings.TrimSuffix(string(text), "\n")
	part := semantic.FindStringSubmatch(plain)
	if part == nil {
		t.Fatalf("%s has %q: want 1.2.3, 1.2.3-rc.4 or 1.2.3-dev", versionFile, text)
	}

	python = strings.Join(part[1:4], ".")
	switch {
	case part[4] == "dev":
		python += ".dev0"
	case part[4] != "":
		python += "rc" + part[5]
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(plain, "%d.%d.%d", &major, &minor, &patch); err != nil {
		t.Fatal(err)
	}
	return plain, python, strconv.Itoa(1_000_000*major + 1_000*minor + patch)
}

// modFiles returns the go.mod files of the repository but the first, the one of the root.
func modFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || p != "." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.Name() == "go.mod" && p != "go.mod":
			files = append(files, filepath.ToSlash(p))
		}
		return nil
	})
	if err != nil || len(files) < 5 {
		t.Fatalf("%d modules: %v", len(files), err)
	}
	return files
}

// requirement matches a line of go.mod that requires a module of the repository: its path and its version.
var requirement = regexp.MustCompile(`(?m)^(?:require |\t)(` + regexp.QuoteMeta(module) + `\S*) (\S+)`)

// TestVersion compares the copies of the version with VERSION: of the package of npm, the package of Python, the C
// header, the changelogs, the pages that say how to install, and what the modules require of each other. To change the
// version, write the file and run
// go test ./internal/docs -run TestVersion -update-version
func TestVersion(t *testing.T) {
	atRoot(t)
	plain, python, number := versions(t)
	type form struct{ file, pattern, version string }
	copies := []form{
		{"js/package.json", `(?m)^  "version": "(.*)"`, plain},
		{"js/package-lock.json", `"name": "bloomery",\n +"version": "(.*)"`, plain},
		{"python/pyproject.toml", `(?m)^version = "(.*)"`, python},
		{"python/src/bloomery_filters/__init__.py", `(?m)^__version__ = "(.*)"`, python},
		{"c/bloomery.h", `#define BLOOMERY_VERSION "(.*)"`, plain},
		{"c/bloomery.h", `#define BLOOMERY_VERSION_NUMBER (\d+)`, number},
	}
	for _, file := range modFiles(t) {
		if text, err := os.ReadFile(file); err != nil || requirement.Match(text) {
			copies = append(copies, form{file, `(?m)^(?:require |\t)` + module + `\S* v(\S+)`, plain})
		}
	}

	for _, file := range changelogs {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := headed(string(text), plain, time.Now())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		checkText(t, file, string(text), want)
	}
	for _, c := range copies {
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		places := regexp.MustCompile(c.pattern).FindAllSubmatchIndex(text, -1)
		if len(places) == 0 {
			t.Errorf("%s has no version: %s", c.file, c.pattern)
		}
		var changed bytes.Buffer
		end := 0
		for _, at := range places {
			if got := string(text[at[2]:at[3]]); got != c.version && !*updateVersion {
				t.Errorf("%s: version %s, want %s as %s: run this test with -update-version", c.file, got, c.version, versionFile)
			}
			changed.Write(text[end:at[2]])
			changed.WriteString(c.version)
			end = at[3]
		}
		changed.Write(text[end:])
		if *updateVersion {
			checkText(t, c.file, string(text), changed.String())
		}
	}
	checkInstall(t)
}

// TestModules checks that each module requires a version of the others, without a replace directive, which `go install`
// of a version refuses; and that a go.work beside its go.mod replaces them by the folders of the checkout. The root has
// no go.work, with which the build of a user would read 50 times as many go.mod files and select other versions.
func TestModules(t *testing.T) {
	atRoot(t)
	if _, err := os.Stat("go.work"); err == nil {
		t.Error("the root has a go.work")
	}
	for _, file := range modFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^replace\b`).Match(text) {
			t.Errorf("%s has a replace directive: write it in go.work", file)
		}

		dir := path.Dir(file)
		work, _ := os.ReadFile(path.Join(dir, "go.work"))
		for _, m := range requirement.FindAllSubmatch(text, -1) {
			to, err := filepath.Rel(dir, "."+strings.TrimPrefix(string(m[1]), module))
			if err != nil {
				t.Fatal(err)
			}
			line := regexp.MustCompile(`(?m)^(replace |\t)` + string(m[1]) + " => " + filepath.ToSlash(to) + "$")
			if !line.Match(work) {
				t.Errorf("%s/go.work has no line: replace %s => %s", dir, m[1], filepath.ToSlash(to))
			}
		}
	}
}
