package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// embedMain calls the recipe of README.md that embeds a list.
const embedMain = `
func main() {
	contains, err := disposable()
	if err != nil {
		panic(err)
	}
	fmt.Println(contains("yopmail.com"), contains("gmail.com"))
}
`

// TestInstall runs the lines of README.md that install from a clone, and then the recipe that embeds a list in a
// program of another module. npm and pip need a network, so it checks only the names in their lines.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command; left out with -short")
	}
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("SKIPPED: there is no go command: %v", err)
	}
	atRoot(t)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, install, _ := strings.Cut(string(page), "\n## Install\n")
	_, block, _ := strings.Cut(install, "```\n")
	block, _, _ = strings.Cut(block, "```")
	today := map[string][]string{} // the lines below the comment that begins with a name
	for _, part := range regexp.MustCompile(`(?m)^# (\w+).*\n((?:[^#\n].*\n)*)`).FindAllStringSubmatch(block, -1) {
		today[part[1]] = strings.Split(strings.TrimSpace(strings.ReplaceAll(part[2], "CLONE", root)), "\n")
	}

	app, bin := t.TempDir(), t.TempDir()
	run := func(dir string, args ...string) string {
		t.Helper()
		if len(args) == 0 || args[0] != "go" {
			t.Fatalf("README.md has the line %q", args)
		}
		c := exec.CommandContext(t.Context(), command, args[1:]...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	line := func(dir, name string) {
		t.Helper()
		if len(today[name]) == 0 {
			t.Errorf("README.md has no line for %s", name)
		}
		for _, l := range today[name] {
			run(dir, strings.Fields(l)...)
		}
	}

	line(root, "command")
	name := "bloomery"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
		t.Error(err)
	}

	run(app, "go", "mod", "init", "example.org/app")
	line(app, "Go")
	_, recipe, _ := strings.Cut(string(page), "```go\n//go:embed")
	recipe, _, _ = strings.Cut(recipe, "```")
	program := "package main\n\nimport (\n\t_ \"embed\"\n\t\"fmt\"\n\n\t\"" + module + "\"\n)\n\n//go:embed" + recipe + embedMain
	filter, err := os.ReadFile("js/example/disposable.bloom")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"main.go": program, "disposable.bloom": string(filter)} {
		if err := os.WriteFile(filepath.Join(app, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out := run(app, "go", "run", "."); out != "true false\n" {
		t.Errorf("the recipe prints %q", out)
	}

	var npm struct{ Name, Version string }
	if b, err := os.ReadFile("js/package.json"); err != nil || json.Unmarshal(b, &npm) != nil {
		t.Fatal(err)
	}
	if want := "js/" + npm.Name + "-" + npm.Version + ".tgz"; !strings.Contains(string(page), "CLONE/"+want+"\n") {
		t.Errorf("README.md does not install %s", want)
	}
	for _, path := range []string{"python/pyproject.toml", "c/bloomery.h"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if b, err := os.ReadFile("python/pyproject.toml"); err != nil || !strings.Contains(string(b), `name = "bloomery-filters"`) {
		t.Errorf("pip install bloomery-filters does not install python: %v", err)
	}
}
