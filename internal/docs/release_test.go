package docs_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// programs are all programs that users install, by package.
var programs = map[string]string{
	"cmd/bloomery":                "bloomery",
	"buckets/cmd/bloomery-bucket": "bloomery-bucket",
	"beam/cmd/bloomery-beam":      "bloomery-beam",
	"eval/lab/cmd/bloomery-lab":   "bloomery-lab",
}

var long = flag.Bool("long", false, "TestRelease installs all programs and packages, which takes minutes")

// TestRelease makes a release of the working tree in another repository, with .ci/tag, and then the next version of
// development. With -long it installs all programs and libraries from there, with an empty module cache, and the
// packages for npm and Python. Programs print their version.
func TestRelease(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		return // .ci/tag is a script of bash
	}
	atRoot(t)
	tree, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const version = "1.0.0-rc.99"
	dir := t.TempDir()
	origin, app := filepath.Join(dir, "origin"), filepath.Join(dir, "app")
	if err := os.Mkdir(app, 0o755); err != nil {
		t.Fatal(err)
	}
	output := func(in string, env []string, args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Dir = in
		c.Env = append(append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test",
			"GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test", "GOTOOLCHAIN=local"), env...)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	run := func(in string, env []string, args ...string) string {
		t.Helper()
		out, err := output(in, env, args...)
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return out
	}

	// The tree as it is, without files that .gitignore names.
	run(dir, nil, "git", "init", "--quiet", "--initial-branch=main", "origin")
	git := []string{"GIT_DIR=" + filepath.Join(origin, ".git"), "GIT_WORK_TREE=" + tree}
	run(dir, git, "git", "-C", tree, "add", "--all")
	run(dir, git, "git", "-C", tree, "commit", "--quiet", "--message", "tree")
	run(origin, nil, "git", "checkout", "--quiet", "--force", "main")

	state := func() string { return run(origin, nil, "git", "for-each-ref") }
	refused := func(says string, args ...string) {
		t.Helper()
		now := state()
		out, err := output(origin, nil, append([]string{".ci/tag"}, args...)...)
		if err == nil || !strings.Contains(out, says) {
			t.Errorf("%q: %v, %s; want %q", args, err, out, says)
		}
		if after := state(); after != now {
			t.Errorf("%q changed the repository: %s", args, after)
		}
	}
	extra := filepath.Join(origin, "extra")
	if err := os.WriteFile(extra, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	refused("changes", version, "--write")
	if err := os.Remove(extra); err != nil {
		t.Fatal(err)
	}
	refused("usage", "v"+version, "--write")

	change := func(file string, edit func(text string) string) {
		t.Helper()
		path := filepath.Join(origin, file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(edit(string(text))), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(message string) { run(origin, nil, "git", "commit", "--quiet", "--all", "--message", message) }
	const signer = `bloomery,releases@example.org namespaces="file" ssh-ed25519 AAAA` + "\n"
	if text, err := os.ReadFile(".github/allowed_signers"); err != nil || strings.Contains(string(text), "PLACEHOLDER") {
		refused("allowed_signers", version, "--write")
	}
	change(".github/allowed_signers", func(string) string { return signer })
	commit("signer")
	before := state()

	if out := run(origin, nil, ".ci/tag", version); state() != before {
		t.Errorf("without --write: %s", out)
	}
	run(origin, nil, ".ci/tag", version, "--write")
	refused("a tag already", version, "--write")
	if out := run(origin, nil, "git", "status", "--porcelain"); out != "" {
		t.Errorf("after the release: %s", out)
	}

	// The pages tell users to install, and still do after the release.
	check := []string{"go", "test", "-trimpath", "./internal/docs", "-count=1", "-run", "^Test(Version|Words)$"}
	run(origin, nil, check...)
	change(versionFile, func(string) string { return "1.0.0-dev\n" })
	run(origin, nil, append(check, "-update-version")...)
	for file, want := range map[string]string{
		"CHANGELOG.md": unreleased + "\n\n## " + version + " (", "README.md": "\nnpm install bloomery\n",
		".github/SECURITY.md": "Write to releases@example.org,",
	} {
		if text, err := os.ReadFile(filepath.Join(origin, file)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("after the release %s lacks %q: %v", file, want, err)
		}
	}

	if !*long {
		return
	}
	run(origin, nil, "git", "reset", "--quiet", "--hard") // to the release

	// Modules of others come from the proxy, or from what it gave before.
	cache := strings.TrimSpace(run(dir, nil, "go", "env", "GOMODCACHE"))
	proxy := strings.TrimSpace(run(dir, nil, "go", "env", "GOPROXY"))
	bin := filepath.Join(dir, "bin")
	env := []string{
		"GOMODCACHE=" + filepath.Join(dir, "cache"), "GOFLAGS=-modcacherw", "GOBIN=" + bin, "GOPRIVATE=" + module,
		"GOPROXY=file://" + cache + "/cache/download," + proxy, "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url.file://" + origin + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + module,
	}
	for folder, name := range programs {
		run(dir, env, "go", "install", "-trimpath", module+"/"+folder+"@v"+version)
		out := run(dir, nil, filepath.Join(bin, filepath.Base(folder)), "--version")
		if line, _, _ := strings.Cut(out, "\n"); !strings.HasPrefix(line, name+" ") || !strings.Contains(line, version) {
			t.Errorf("%s --version prints %q", name, out)
		}
	}

	run(app, env, "go", "mod", "init", "example.org/app")
	for _, library := range []string{"", "/buckets", "/otel", "/pebblefilter"} {
		run(app, env, "go", "get", module+library+"@v"+version)
		text := "package main\n\nimport _ \"" + module + library + "\"\n\nfunc main() {}\n"
		if err := os.WriteFile(filepath.Join(app, "main.go"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		run(app, env, "go", "run", "-trimpath", ".")
	}
	lines := installLines(installTexts(t)[true]["README.md"], "")
	for _, line := range append(lines["command"], lines["Go"]...) {
		run(app, env, strings.Fields(line)...)
	}
	out := run(dir, nil, filepath.Join(bin, "bloomery"), "--version")
	if !strings.HasPrefix(out, "bloomery "+version+",") {
		t.Errorf("the program that README.md installs prints %q", out)
	}
	for _, file := range strings.Fields(run(origin, nil, "git", "ls-files", "*/go.mod")) { // go.sum is complete
		in := filepath.Join(origin, filepath.Dir(file))
		if out, err := output(in, append(slices.Clone(env), "GOWORK=off"), "go", "mod", "tidy", "-diff"); err != nil {
			t.Errorf("%s: go mod tidy in a clone of the release would change: %s", file, out)
		}
	}
	clone := filepath.Join(dir, "clone")
	run(dir, nil, "git", "clone", "--quiet", "--branch=v"+version, origin, clone)
	installPackages(t, clone, version, run)
}
