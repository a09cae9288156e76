package docs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const workflows = ".github/workflows/"

var (
	uses     = regexp.MustCompile(`(?m)^ +(?:- )?uses: (\S+)(.*)$`)
	pinned   = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	script   = regexp.MustCompile(`(?:^|\s)(\.ci/[\w-]+)`)
	goRun    = regexp.MustCompile(`go (?:-C (\S+|".*") )?run ([\w./@-]+)`)
	version  = regexp.MustCompile(`@v\d+\.\d+\.\d+(-\S+)?$`)
	npmRun   = regexp.MustCompile(`npm run ([\w:]+)`)
	makeIn   = regexp.MustCompile(`make -C (\S+) (\S+)`)
	pip      = regexp.MustCompile(`pip install (.+)`)
	pyScript = regexp.MustCompile(`python ([\w./]+\.py)`)
)

// command is a line that a step of a workflow runs in a folder.
type command struct{ file, dir, line string }

// steps returns the commands of all workflows, as far as they are written like those here: a step begins with a dash in
// column 6, its keys are in column 8, and the lines of a block in column 10.
func steps(t *testing.T) []command {
	t.Helper()
	files, err := filepath.Glob(workflows + "*.yml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d workflows: %v", len(files), err)
	}
	var all []command
	for _, file := range files {
		for step := range strings.SplitSeq(readFile(t, file), "\n      - ") {
			step = "\n        " + step
			if !strings.Contains(step, "\n        run: ") {
				continue
			}
			_, run, _ := strings.Cut(step, "\n        run: ")
			dir := "."
			if _, after, found := strings.Cut(step, "\n        working-directory: "); found {
				dir, _, _ = strings.Cut(after, "\n")
			}
			run = strings.TrimPrefix(run, "|\n")
			if end := regexp.MustCompile(`\n {0,8}\S`).FindStringIndex(run); end != nil {
				run = run[:end[0]]
			}
			for line := range strings.SplitSeq(run, "\n") {
				all = append(all, command{filepath.ToSlash(file), dir, strings.TrimSpace(line)})
			}
		}
	}
	return all
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestWorkflows checks that .ci/run and the workflow of tests have the same parts, and that the repository has each
// command of a workflow. Workflows must name actions by commit, and no expression in a command.
func TestWorkflows(t *testing.T) {
	atRoot(t)
	exists := func(c command, name string) {
		t.Helper()
		if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
			t.Errorf("%s: %s: %v", c.file, c.line, err)
		}
	}

	run, test := readFile(t, ".ci/run"), readFile(t, workflows+"test.yml")
	var parts []string
	for _, list := range regexp.MustCompile(`(?m)^(?:early|late)=\((.*?)\)`).FindAllStringSubmatch(run, -1) {
		parts = append(parts, strings.Fields(list[1])...)
	}
	for _, part := range parts {
		if !regexp.MustCompile(`(?m)^` + part + `\(\) [{(]`).MatchString(run) {
			t.Errorf(".ci/run has no function %s", part)
		}
	}
	_, matrix, _ := strings.Cut(test, "        part:\n")
	matrix, _, _ = strings.Cut(matrix, "    runs-on:")
	named := []string{"tests"} // on three systems, by the command that is compared below
	for _, m := range regexp.MustCompile(`(?m)^ +- (\w+)$`).FindAllStringSubmatch(matrix, -1) {
		named = append(named, m[1])
	}
	if !slices.Equal(parts, named) || len(parts) < 10 {
		t.Errorf("parts of .ci/run:   %s\nparts of test.yml: %s", parts, named)
	}
	const all = "go test ./..."
	if !strings.Contains(run, "tests() { step "+all+"; }") || !strings.Contains(test, "\n      - run: "+all+"\n") {
		t.Errorf("the first part of .ci/run and test.yml do not both run: %s", all)
	}

	commands, checked := steps(t), 0
	for _, c := range commands {
		if strings.Contains(c.line, "${{") {
			t.Errorf("%s: an expression in a command: %s", c.file, c.line)
		}
		exists(c, c.dir)
		for _, m := range script.FindAllStringSubmatch(c.line, -1) {
			checked++
			exists(c, path.Join(c.dir, m[1]))
		}
		for _, m := range goRun.FindAllStringSubmatch(c.line, -1) {
			checked++
			if !strings.Contains(m[2], "@") {
				exists(c, path.Join(c.dir, m[1], m[2]))
			} else if !version.MatchString(m[2]) {
				t.Errorf("%s: a program without a version: %s", c.file, m[2])
			}
		}
		if m := npmRun.FindStringSubmatch(c.line); m != nil {
			checked++
			var manifest struct{ Scripts map[string]string }
			if err := json.Unmarshal([]byte(readFile(t, path.Join(c.dir, "package.json"))), &manifest); err != nil {
				t.Fatal(err)
			}
			if manifest.Scripts[m[1]] == "" {
				t.Errorf("%s: %s/package.json has no script %s", c.file, c.dir, m[1])
			}
		}
		if strings.HasPrefix(c.line, "npm ci") {
			exists(c, path.Join(c.dir, "package-lock.json"))
		}
		if m := makeIn.FindStringSubmatch(c.line); m != nil {
			checked++
			if !strings.Contains(readFile(t, path.Join(m[1], "Makefile")), "\n"+m[2]+":") {
				t.Errorf("%s: %s/Makefile has no target %s", c.file, m[1], m[2])
			}
		}
		if m := pyScript.FindStringSubmatch(c.line); m != nil {
			checked++
			exists(c, path.Join(c.dir, m[1]))
		}
		if m := pip.FindStringSubmatch(c.line); m != nil {
			for name := range strings.FieldsSeq(m[1]) {
				if name != "-r" && !strings.Contains(name, "==") {
					exists(c, path.Join(c.dir, name))
				}
			}
		}
	}
	if len(commands) < 30 || checked < 12 {
		t.Errorf("%d commands, %d of them checked", len(commands), checked)
	}

	files, _ := filepath.Glob(workflows + "*.yml")
	for _, file := range files {
		text := readFile(t, file)
		if !strings.Contains(text, "\npermissions:\n  contents: read\n") {
			t.Errorf("%s has other permissions at its top", file)
		}
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			if local, found := strings.CutPrefix(m[1], "./"); found {
				exists(command{file: file, line: m[1]}, local)
			} else if !pinned.MatchString(m[1] + m[2]) {
				t.Errorf("%s: %s is not: NAME@COMMIT # VERSION", file, m[1]+m[2])
			}
		}
		if n := strings.Count(text, "actions/checkout@"); n != strings.Count(text, "persist-credentials: false") {
			t.Errorf("%s: %d checkouts, and not all without credentials", file, n)
		}
	}

	// Updates of dependencies reach all modules.
	updates := readFile(t, ".github/dependabot.yml")
	for _, mod := range append(modFiles(t), "go.mod") {
		if dir := path.Join("/", path.Dir(mod)); !strings.Contains(updates, "\n      - "+dir+"\n") {
			t.Errorf(".github/dependabot.yml has no directory %s", dir)
		}
	}
}

// TestFuzz lists the fuzz targets of all modules. Each must have a corpus, and a line in the list of .ci/fuzz, which
// the workflow, .ci/run with CI_FULL=1 and OSS-Fuzz run without a choice of targets. The workflow must also run the
// fuzzers of the readers in C and Python.
func TestFuzz(t *testing.T) {
	atRoot(t)
	var targets, corpora []string
	function := regexp.MustCompile(`(?m)^func (Fuzz\w*)\(`)
	tree(t, func(name, text string) {
		if !strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, m := range function.FindAllStringSubmatch(text, -1) {
			targets = append(targets, path.Dir(name)+" "+m[1])
			corpus := path.Join(path.Dir(name), "testdata/fuzz", m[1])
			corpora = append(corpora, corpus)
			inputs, _ := filepath.Glob(corpus + "/*")
			if len(inputs) < 4 {
				t.Errorf("%s has %d inputs, want 4: take some that `.ci/fuzz 1m %s` leaves in $(go env GOCACHE)/fuzz", corpus,
					len(inputs), path.Dir(name))
			}
			for _, input := range inputs {
				if !strings.HasPrefix(readFile(t, input), "go test fuzz v1\n") {
					t.Errorf("%s is no input of Go's fuzzer", input)
				}
			}
		}
	})
	if len(targets) < 19 {
		t.Errorf("%d targets: %q", len(targets), targets)
	}
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "node_modules" || d.Name() == ".git" {
			return filepath.SkipDir
		}
		name = filepath.ToSlash(name)
		if strings.HasSuffix(path.Dir(name), "/testdata/fuzz") && !slices.Contains(corpora, name) {
			t.Errorf("%s is the corpus of no target", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	if runtime.GOOS != "windows" { // whose bash may be the one of another system
		out, err := exec.CommandContext(t.Context(), ".ci/fuzz", "--list").Output()
		if err != nil {
			t.Fatal(err)
		}
		listed := strings.Split(strings.TrimSpace(string(out)), "\n")
		slices.Sort(listed)
		slices.Sort(targets)
		if !slices.Equal(listed, targets) {
			t.Errorf("targets: %q\n.ci/fuzz --list: %q", targets, listed)
		}
	}

	night := readFile(t, workflows+"fuzz.yml")
	for file, line := range map[string]string{
		workflows + "fuzz.yml":      `- run: \.ci/fuzz \d+m\n`,
		".ci/run":                   `folders=\(\)\n  step \.ci/fuzz 5s "\$\{folders\[@\]\}"\n`,
		".github/oss-fuzz/build.sh": `\ntargets=\$\(\.ci/fuzz --list\)\n`,
	} {
		if !regexp.MustCompile(line).MatchString(readFile(t, file)) {
			t.Errorf("%s does not have: %s", file, line)
		}
	}
	others := 0
	for _, pattern := range []string{"c/test/*fuzz*", "python/tests/*fuzz*", "js/test/*fuzz*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			name = filepath.ToSlash(name)
			others++
			inMake := bytes.Contains([]byte(readFile(t, "c/Makefile")), []byte(strings.TrimPrefix(name, "c/"))) &&
				strings.Contains(night, "make -C c fuzz ")
			if !strings.Contains(night, name) && !inMake {
				t.Errorf("%sfuzz.yml does not run %s", workflows, name)
			}
		}
	}
	if others < 2 {
		t.Errorf("%d fuzzers of other languages", others)
	}
}
