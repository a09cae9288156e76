package docs_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
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

// TestInstall runs the lines that install from a clone, which README.md has before the first release, and then the
// recipe that embeds a list in a program of another module. npm and pip need a network, so it checks only the names in
// their lines. TestRelease runs the lines that README.md has later.
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
	texts := installTexts(t)
	clone := installLines(texts[false]["README.md"], root)

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
		if len(clone[name]) == 0 {
			t.Errorf("README.md has no line for %s", name)
		}
		for _, l := range clone[name] {
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

	runService(t, app, filepath.Join(bin, name), func(args ...string) { run(app, args...) })

	var npm struct{ Name, Version string }
	if b, err := os.ReadFile("js/package.json"); err != nil || json.Unmarshal(b, &npm) != nil {
		t.Fatal(err)
	}
	want := root + "/js/" + npm.Name + "-" + npm.Version + ".tgz"
	if got := clone["npm"]; !isReleased(t) && !slices.Contains(got, "npm install "+want) {
		t.Errorf("README.md does not install %s: %q", want, got)
	}
	for _, path := range []string{"python/pyproject.toml", "c/bloomery.h"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if b, err := os.ReadFile("python/pyproject.toml"); err != nil || !strings.Contains(string(b), `name = "bloomery-filters"`) {
		t.Errorf("pip install bloomery-filters does not install python: %v", err)
	}

	released := installLines(texts[true]["README.md"], "")
	for name, want := range map[string]string{
		"command": "go install " + module + "/cmd/bloomery@latest", "Go": "go get " + module,
		"npm": "npm install " + npm.Name, "pip": "pip install bloomery-filters bloomery-filters-bin",
	} {
		if got := released[name]; len(got) != 1 || got[0] != want {
			t.Errorf("after a release README.md installs %s with %q, want %q", name, got, want)
		}
	}
}

// installLines returns the lines of README.md that install, by the name of what they install, for a clone in a folder.
func installLines(text, folder string) map[string][]string {
	lines := map[string][]string{} // the lines below the comment that begins with a name
	block := between(text, "```\n", "```")
	for _, part := range regexp.MustCompile(`(?m)^# (\w+).*\n((?:[^#\n].*\n)*)`).FindAllStringSubmatch(block, -1) {
		lines[part[1]] = strings.Split(strings.TrimSpace(strings.ReplaceAll(part[2], "CLONE", folder)), "\n")
	}
	return lines
}

// runService runs the service of docs/guides/publish.md in the module app, with an embedded list of one domain. The
// release that it follows has two, and the service must find both.
func runService(t *testing.T, app, bloomery string, run func(args ...string)) {
	t.Helper()
	page, err := os.ReadFile("docs/guides/publish.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```go\n//go:embed")
	block, _, _ = strings.Cut(block, "```")
	if n := strings.Count(block, "\n"); n > 25 {
		t.Errorf("the service has %d lines", n)
	}

	dir := filepath.Join(app, "service")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) {
		c := exec.CommandContext(t.Context(), bloomery, args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	write("first.txt", "a.example\n")
	write("next.txt", "a.example\nb.example\n")
	command("keygen", "-o", "release.key")
	command("build", "-o", "list.bloom", "--spec", "rankindexed", "--capacity", "100", "--fpr", "1e-6", "first.txt")
	command("build", "-o", "next.bloom", "--like", "list.bloom", "next.txt")
	command("publish", "site", "next.bloom", "--sign", "release.key")
	public, err := os.ReadFile(filepath.Join(dir, "release.key.pub"))
	if err != nil {
		t.Fatal(err)
	}

	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	for _, r := range [][2]string{
		{"ed25519:…", strings.TrimSpace(string(public))},
		{"https://example.org/blocklist", filepath.ToSlash(dir) + "/site"},
		{"localhost:8080", address},
	} {
		if !strings.Contains(block, r[0]) {
			t.Errorf("the service has no %s", r[0])
		}
		block = strings.ReplaceAll(block, r[0], r[1])
	}
	imports := `"context"; _ "embed"; "errors"; "fmt"; "io/fs"; "net/http"; "os"; "` + module + `/publish"`
	write("main.go", "package main\n\nimport ("+imports+")\n\n//go:embed"+block+
		"\nfunc main() { panic(serve(context.Background())) }\n")
	run("go", "build", "-o", filepath.Join(dir, "service.exe"), "./service")

	c := exec.CommandContext(t.Context(), filepath.Join(dir, "service.exe"))
	c.Dir = dir
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	ask := func(domain string) string {
		answer, err := http.Get("http://" + address + "/listed?domain=" + domain)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		b, _ := io.ReadAll(answer.Body)
		return string(b)
	}
	for range 300 {
		if ask("b.example") == "true\n" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for domain, want := range map[string]string{"a.example": "true\n", "b.example": "true\n", "c.example": "false\n"} {
		if got := ask(domain); got != want {
			t.Errorf("%s: %q", domain, got)
		}
	}
}
