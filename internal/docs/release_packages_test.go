package docs_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// installLine returns the line of a page, after the release, that a user of a package enters.
func installLine(t *testing.T, page string) []string {
	t.Helper()
	block := regexp.MustCompile("(?m)^```sh\n(.*)\n```$").FindStringSubmatch(installTexts(t)[true][page])
	if block == nil {
		t.Fatalf("%s has no line that installs", page)
	}
	return strings.Fields(block[1])
}

// installPackages makes the packages for npm and Python in a clone of a release, and installs them with the lines of
// their pages, each in an empty folder with an empty cache. The packages state the version. Their program prints it.
func installPackages(t *testing.T, clone, version string, run func(in string, env []string, args ...string) string) {
	t.Helper()
	if missing := missingProgram("node", "npm"); missing != "" {
		t.Logf("NOT RUN: npm install needs %s", missing)
	} else {
		installNPM(t, clone, version, run)
	}

	const complete = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
	if missing := missingProgram("python3", "cc"); missing != "" {
		t.Logf("NOT RUN: pip install needs %s", missing)
	} else if exec.CommandContext(t.Context(), "python3", "-c", complete).Run() != nil {
		t.Log("NOT RUN: pip install needs Python 3.11 with venv")
	} else {
		installPip(t, clone, version, run)
	}
}

// missingProgram returns the first program that is not in PATH.
func missingProgram(names ...string) string {
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			return name
		}
	}
	return ""
}

func installNPM(t *testing.T, clone, version string, run func(in string, env []string, args ...string) string) {
	js, dir, app := filepath.Join(clone, "js"), t.TempDir(), t.TempDir()
	run(js, nil, "npm", "ci", "--no-fund", "--no-audit")
	run(js, nil, "npm", "run", "tarballs", "--", "--platform", "native", "--out", dir)
	tarballs, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(tarballs) != 2 {
		t.Fatalf("%q: %v", tarballs, err)
	}
	registry := serveTarballs(t, tarballs)

	// npm asks the registry for the packages of other platforms, too, and goes on without them.
	env := []string{
		"npm_config_registry=" + registry, "npm_config_cache=" + filepath.Join(app, "cache"),
		"npm_config_userconfig=" + os.DevNull, "npm_config_update_notifier=false",
	}
	run(app, env, installLine(t, "js/README.md")...)
	const program = `
for (const name of ['bloomery', '@bloomery/cli-' + process.platform + '-' + process.arch]) {
  const { version, license } = require(require('node:path').resolve('node_modules', name, 'package.json'));
  console.log(name.replace(/-.*/, ''), version, /^MIT AND /.test(license));
}
import('bloomery').then(({ open }) => console.log(typeof open));
`
	want := "bloomery " + version + " true\n@bloomery/cli " + version + " true\nfunction\n"
	if got := run(app, env, "node", "-e", program); got != want {
		t.Errorf("npm installed %q, want %q", got, want)
	}
	if got := run(app, env, "npx", "bloomery", "--version"); !strings.HasPrefix(got, "bloomery "+version+",") {
		t.Errorf("npx bloomery --version prints %q", got)
	}
}

// serveTarballs serves packages as the registry of npm does, and returns its URL.
func serveTarballs(t *testing.T, tarballs []string) string {
	t.Helper()
	answers := map[string][]byte{} // by path; npm writes the slash in a name as %2f, which is not for http.ServeMux
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, ok := answers[r.URL.Path]; ok {
			_, _ = w.Write(answer)
		} else {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	for _, file := range tarballs {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		manifest := manifestIn(t, text)
		name, version := manifest["name"].(string), manifest["version"].(string)
		sum := sha512.Sum512(text)
		address := "/tarballs/" + path.Base(filepath.ToSlash(file))
		manifest["dist"] = map[string]string{
			"tarball": server.URL + address, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		answers[address] = text
		answers["/"+name], err = json.Marshal(map[string]any{
			"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: manifest},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return server.URL
}

// manifestIn returns package.json of a tarball.
func manifestIn(t *testing.T, tarball []byte) map[string]any {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unpacked); ; {
		member, err := r.Next()
		if err != nil {
			t.Fatalf("no package.json: %v", err)
		}
		if member.Name != "package/package.json" {
			continue
		}
		text, err := io.ReadAll(r)
		manifest := map[string]any{}
		if err != nil || json.Unmarshal(text, &manifest) != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return manifest
	}
}

func installPip(t *testing.T, clone, version string, run func(in string, env []string, args ...string) string) {
	python, dir, index := filepath.Join(clone, "python"), t.TempDir(), t.TempDir()
	bin := func(venv, name string) string {
		if runtime.GOOS == "windows" {
			return filepath.Join(dir, venv, "Scripts", name)
		}
		return filepath.Join(dir, venv, "bin", name)
	}
	run(dir, nil, "python3", "-m", "venv", "build")
	pinned := []string{"-c", filepath.Join(python, "requirements-release.txt")}
	run(dir, nil, append([]string{bin("build", "pip"), "install", "-q", "build", "setuptools"}, pinned...)...)
	run(dir, nil, append([]string{bin("build", "pip"), "download", "-q", "-d", index, "setuptools"}, pinned...)...)
	run(python, nil, bin("build", "python"), "wheels.py", "native", "--out", index)
	run(python, nil, bin("build", "python"), "wheels.py", "command", "--platform", "native", "--out", index)

	// Python writes 1.0.0-rc.1 as 1.0.0rc1. The command prints it as it is.
	want := strings.Replace(version, "-rc.", "rc", 1)
	want = "bloomery-filters " + want + " bloomery-filters-bin " + want + " module " + want + "\n"
	line := installLine(t, "python/README.md")
	for venv, sdist := range map[string]string{"wheel": "", "sdist": "bloomery-filters"} {
		env := []string{
			"PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + index, "PIP_NO_BINARY=" + sdist, "PIP_DISABLE_PIP_VERSION_CHECK=1",
			"PIP_CACHE_DIR=" + filepath.Join(dir, venv, "cache"), "BLOOMERY_COMMAND=",
		}
		run(dir, env, "python3", "-m", "venv", venv)
		run(dir, env, append([]string{bin(venv, line[0])}, line[1:]...)...)
		const program = `
from importlib.metadata import version
import bloomery_filters
print(*(f"{name} {version(name)}" for name in ("bloomery-filters", "bloomery-filters-bin")), end=" ")
print("module", bloomery_filters.__version__)
`
		if got := run(dir, env, bin(venv, "python"), "-c", program); got != want {
			t.Errorf("%s: pip installed %q, want %q", venv, got, want)
		}
		got := run(dir, env, bin(venv, "python"), "-m", "bloomery_filters", "--version")
		if !strings.HasPrefix(got, "bloomery "+version+",") {
			t.Errorf("%s: python -m bloomery_filters --version prints %q", venv, got)
		}
	}
}
