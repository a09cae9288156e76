package docs_test

import (
	"bytes"
	"debug/buildinfo"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	updateLicenses = flag.Bool("update-licenses", false, "write cmd/bloomery/LICENSES.txt")
	licensesOf     = flag.String("licenses-of", "", "program whose licenses TestLicensesOf writes into a file")
	licensesTo     = flag.String("licenses-to", "", "the file that TestLicensesOf writes")
)

const (
	licensesFile  = "cmd/bloomery/LICENSES.txt"
	licensesTitle = "The command bloomery contains software and lists of others. Bloomery itself: see LICENSE.\n"
)

// licensesStart is above the name of a module, or of a folder in it, in LICENSES.txt.
var licensesStart = "\n" + strings.Repeat("=", 80) + "\n"

// isLicense matches the names of files that a copy of a program must come with.
var isLicense = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)(\.(txt|md))?$`)

// TestLicenses compares cmd/bloomery/LICENSES.txt with the modules that are linked on all systems: it has the licenses
// of Go, of every module and of folders of a module with a license of their own, and of embedded lists. Archives and
// packages have the part of it that TestLicensesOf writes.
//
// After a change: go test ./internal/docs -run TestLicenses -update-licenses
func TestLicenses(t *testing.T) {
	atRoot(t)
	list := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "go", args...).Output()
		if err != nil {
			t.Fatalf("go %q: %v", args, err)
		}
		return string(out)
	}

	texts := map[string][]byte{} // of each license file, by the module or folder that it is for
	add := func(dir, name string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !isLicense.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			texts[name+": "+e.Name()] = bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		}
	}
	modules := map[string]bool{}
	add(strings.TrimSpace(list("env", "GOROOT")), " Go") // the space sorts it first
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			t.Setenv("GOOS", system)
			t.Setenv("GOARCH", arch)
			const format = "{{with .Module}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}"
			for line := range strings.Lines(list("list", "-deps", "-f", format, "./cmd/bloomery")) {
				part := strings.Split(strings.TrimSpace(line), "\t")
				if len(part) != 3 || part[0] == module {
					continue
				}
				modules[part[0]] = true
				for dir := part[2]; len(dir) >= len(part[1]); dir = filepath.Dir(dir) {
					add(dir, part[0]+filepath.ToSlash(strings.TrimPrefix(dir, part[1])))
				}
			}
		}
	}
	add("cmd/bloomery/domains", module+"/cmd/bloomery/domains")

	var b bytes.Buffer
	b.WriteString(licensesTitle)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "%s%s\n\n%s\n", licensesStart, strings.TrimSpace(name), texts[name])
	}
	for name := range modules {
		if !strings.Contains(b.String(), "\n"+name+": LICENSE") {
			t.Errorf("%s has no license", name)
		}
	}

	if *updateLicenses {
		if err := os.WriteFile(licensesFile, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(licensesFile); err != nil || !bytes.Equal(text, b.Bytes()) {
		t.Errorf("%s is stale, %v: run this test with -update-licenses", licensesFile, err)
	}
}

// TestLicensesOf writes the licenses that a copy of a program comes with: LICENSES.txt without the modules that only
// other platforms link, such as one for Windows. Scripts that make archives and packages run it with two flags:
// go test ./internal/docs -count=1 -run '^TestLicensesOf$' -licenses-of PROGRAM -licenses-to FILE
func TestLicensesOf(t *testing.T) {
	atRoot(t)
	all, err := os.ReadFile(licensesFile)
	if err != nil {
		t.Fatal(err)
	}
	if *licensesOf == "" {
		one, lacking := licensesFor(string(all), []string{"github.com/zeebo/xxh3", "example.org/other"})
		names := regexp.MustCompile(`(?m)^={80}\n(.*):`).FindAllStringSubmatch(one, -1)
		if len(names) != 4 || !slices.Equal(lacking, []string{"example.org/other"}) {
			t.Errorf("%q lack %q", names, lacking)
		}
		return
	}

	program, err := buildinfo.ReadFile(*licensesOf)
	if err != nil {
		t.Fatal(err)
	}
	var linked []string
	for _, m := range program.Deps {
		linked = append(linked, m.Path)
	}
	text, lacking := licensesFor(string(all), linked)
	if len(linked) == 0 || len(lacking) != 0 {
		t.Fatalf("%s has %d modules, and %s lacks the licenses of %q", *licensesOf, len(linked), licensesFile, lacking)
	}
	if err := os.MkdirAll(filepath.Dir(*licensesTo), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*licensesTo, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// licensesFor returns the part of LICENSES.txt for Go, for our lists and for modules, and the modules that have none.
func licensesFor(all string, modules []string) (text string, lacking []string) {
	lacking = slices.Clone(modules)
	var b strings.Builder
	for i, part := range strings.Split(all, licensesStart) {
		name, _, _ := strings.Cut(part, ": ")
		isIn := func(m string) bool { return strings.HasPrefix(name+"/", m+"/") }
		lacking = slices.DeleteFunc(lacking, func(m string) bool { return m == name })
		if i == 0 {
			b.WriteString(part)
		} else if name == "Go" || isIn(module) || slices.ContainsFunc(modules, isIn) {
			b.WriteString(licensesStart + part)
		}
	}
	return b.String(), lacking
}

// TestArtifacts checks the files that make archives, packages and the image of the command: each file that they name is
// in the repository, all programs are compiled alike, and all state the same licenses.
func TestArtifacts(t *testing.T) {
	atRoot(t)
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	release, image := read(".goreleaser.yaml"), read("cmd/bloomery/Dockerfile")
	var sources []string // files of the repository
	files := regexp.MustCompile(`(?m)(?:\bsrc: |^    - )(\.ci/\S+|[^".,>\s][^,}\s]*)`)
	for _, m := range files.FindAllStringSubmatch(release, -1) {
		sources = append(sources, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^COPY (.*) \S+$`).FindAllStringSubmatch(image, -1) {
		for _, path := range strings.Fields(m[1]) {
			// The first stage has the repository in /src, and other files outside.
			path, isSource := strings.CutPrefix(path, "/src/")
			if isSource || !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "--from=") {
				sources = append(sources, path)
			}
		}
	}
	if len(sources) < 7 {
		t.Errorf("%q", sources)
	}
	for _, path := range sources {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}

	const all = "MIT AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND CC0-1.0"
	const readers = "MIT AND BSD-2-Clause"
	for path, parts := range map[string][]string{
		".goreleaser.yaml": {"license: " + all + "\n", "-trimpath", "ldflags: [-s -w]", "[CGO_ENABLED=0]",
			"/LICENSES.txt\", strip_parent: true", "/LICENSES.txt\"\n        dst: "},
		"cmd/bloomery/Dockerfile": {`licenses="` + all + `"`, "-trimpath", `-ldflags="-s -w"`, "CGO_ENABLED=0",
			"LICENSES.txt"},
		"js/cli/pack.mjs": {"'" + all + "'", "LICENSES.txt", "'-trimpath'", "'-ldflags=-s -w'", "CGO_ENABLED: '0'"},
		"python/wheels.py": {"License-Expression: " + all, "LICENSES.txt", `"-trimpath"`, `"-ldflags=-s -w"`,
			`"CGO_ENABLED": "0"`},
		// The readers have no modules, but constants of xxHash.
		"c/bloomery.h":          {"SPDX-License-Identifier: " + readers + "\n", "Yann Collet"},
		"js/package.json":       {`"license": "` + readers + `"`, `"LICENSES.txt"`},
		"js/LICENSES.txt":       {"Yann Collet"},
		"python/pyproject.toml": {`license = "` + readers + `"`, `license-files = ["LICENSE", "LICENSES.txt"]`},
		"python/LICENSES.txt":   {"Yann Collet", "Zig contributors", "mingw-w64 project"},
	} {
		text := read(path)
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %s", path, part)
			}
		}
	}
}
