package docs_test

import (
	"bytes"
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

var updateLicenses = flag.Bool("update-licenses", false, "write cmd/bloomery/LICENSES.txt")

// isLicense matches the names of files that a copy of a program must come with.
var isLicense = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)(\.(txt|md))?$`)

// TestLicenses compares cmd/bloomery/LICENSES.txt, which is in every archive and package that has the command, with the
// modules that are linked on all platforms: it has the licenses of Go, of every module and of folders of a module with a
// license of their own, and of embedded lists. After a change: go test ./internal/docs -run TestLicenses -update-licenses
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
	b.WriteString("The command bloomery contains software and lists of others. Bloomery itself: see LICENSE.\n")
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.TrimSpace(name), texts[name])
	}
	for name := range modules {
		if !strings.Contains(b.String(), "\n"+name+": LICENSE") {
			t.Errorf("%s has no license", name)
		}
	}

	const path = "cmd/bloomery/LICENSES.txt"
	if *updateLicenses {
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, b.Bytes()) {
		t.Errorf("%s is stale, %v: run this test with -update-licenses", path, err)
	}
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
	sources := regexp.MustCompile(`(?m)\bsrc: ([^.,\s][^,}\s]*)`).FindAllStringSubmatch(release, -1)
	sources = append(sources, regexp.MustCompile(`(?m)^COPY (\S+) (\S+) /`).FindAllStringSubmatch(image, -1)...)
	sources = append(sources, regexp.MustCompile(`(?m)^    - (\.ci/\S+)`).FindAllStringSubmatch(release, -1)...)
	if len(sources) < 8 {
		t.Errorf("%q", sources)
	}
	for _, paths := range sources {
		for _, path := range paths[1:] {
			if _, err := os.Stat(path); err != nil && !strings.HasPrefix(path, "--from=") && !strings.HasPrefix(path, "/") {
				t.Error(err)
			}
		}
	}

	const all = "MIT AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND CC0-1.0"
	for path, parts := range map[string][]string{
		".goreleaser.yaml":        {"license: " + all + "\n", "-trimpath", "ldflags: [-s -w]", "[CGO_ENABLED=0]"},
		"cmd/bloomery/Dockerfile": {`licenses="` + all + `"`, "-trimpath", `-ldflags="-s -w"`, "CGO_ENABLED=0"},
		"js/cli/pack.mjs":         {"'" + all + "'", "LICENSES.txt", "'-trimpath'", "'-ldflags=-s -w'", "CGO_ENABLED: '0'"},
		"python/wheels.py": {"License-Expression: " + all, "LICENSES.txt", `"-trimpath"`, `"-ldflags=-s -w"`,
			`"CGO_ENABLED": "0"`},
	} {
		text := read(path)
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %s", path, part)
			}
		}
	}
}
