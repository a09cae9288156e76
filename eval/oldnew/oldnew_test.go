package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/families"
)

// fakes are versions with a fault: names of this test program, which runs the command in $BLOOMERY and changes what it
// does.
var fakes = map[string]func(args []string, a *answer){
	"same": func([]string, *answer) {},
	"loses": func(args []string, a *answer) {
		if args[0] == "check" {
			a.stdout = a.stdout[bytes.IndexByte(a.stdout, '\n')+1:]
		}
	},
	"refuses": func(args []string, a *answer) {
		if args[0] == "check" {
			a.stdout, a.code, a.stderr = nil, 2, "bloomery: a.bloom: written by a newer version of Bloomery\n"
		}
	},
	"fails": func(args []string, a *answer) {
		if args[0] == "check" {
			a.stdout, a.code, a.stderr = nil, 2, "bloomery: a.bloom: checksum does not match\n"
		}
	},
	"lacks": func(args []string, a *answer) {
		if args[0] == "build" {
			a.code, a.stderr = 2, "bloomery: unknown flag: --new\n"
		}
	},
	"forgets": func(args []string, a *answer) { // its changes are not in the file
		if args[0] == "add" {
			if err := os.Remove(args[1]); err == nil {
				a.code, a.stderr = 2, "bloomery: the file is lost\n"
			}
		}
	},
	"other": func(args []string, a *answer) { // other bytes, the same answers
		if at := slices.Index(args, "-o"); args[0] == "build" && at > 0 {
			if err := exec.Command(os.Getenv("BLOOMERY"), "add", args[at+1], args[len(args)-1]).Run(); err != nil {
				a.code, a.stderr = 2, err.Error()
			}
		}
	},
}

func TestMain(m *testing.M) {
	change, is := fakes[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")]
	if !is {
		os.Exit(m.Run())
	}
	var stdout, stderr bytes.Buffer
	c := exec.Command(os.Getenv("BLOOMERY"), os.Args[1:]...)
	c.Stdout, c.Stderr = &stdout, &stderr
	_ = c.Run()
	a := answer{stdout: stdout.Bytes(), stderr: stderr.String(), code: c.ProcessState.ExitCode()}
	change(os.Args[1:], &a)
	_, _ = os.Stdout.Write(a.stdout)
	_, _ = os.Stderr.WriteString(a.stderr)
	os.Exit(a.code)
}

// TestFaults requires that faults of either version are found, and that differences which are allowed are none.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	exe := ""
	if runtime.GOOS == "windows" {
		exe = ".exe"
	}
	command := filepath.Join(dir, "bloomery"+exe)
	build := exec.Command("go", "build", "-o", command, "github.com/bloomery/bloomery/cmd/bloomery")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("BLOOMERY", command)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	fake := func(name string) string {
		path := filepath.Join(dir, name+exe)
		if err := os.WriteFile(path, binary, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}

	for _, c := range []struct {
		old, new, kinds string
		code            int
		want            []string // parts of the report
	}{
		{"same", "same", "^(spec standard|keys xxh64|exact)$", 0, []string{`"faults": 0`, `"turns": 3`, `"kinds": 3`}},
		{"loses", "same", "^keys xxh64$", 1, []string{"FALSE NEGATIVE", "other output: "}},
		{"same", "loses", "^keys xxh64$", 1, []string{"FALSE NEGATIVE"}},
		{"same", "fails", "^keys xxh64$", 1, []string{"checksum does not match"}},
		{"refuses", "same", "^keys xxh64$", 1, []string{"cannot read its own file"}},
		{"same", "refuses", "^keys xxh64$", 1, []string{"newer version of Bloomery; want exit code 0"}},
		{"lacks", "same", "^keys xxh64$", 0, []string{`"only_new": "build`, `"faults": 0`, `"refused": 0`}},
		{"same", "lacks", "^keys xxh64$", 1, []string{"the newer version cannot make the files"}},
		{"same", "forgets", "^keys xxh64$", 1, []string{"the file is lost"}},
		{"same", "other", "^keys xxh64$", 0, []string{`"other_files"`, `"faults": 0`}},
	} {
		t.Run(c.old+" "+c.new, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"--old", fake(c.old), "--new", fake(c.new), "--keys", "200", "--json",
				"--kinds", c.kinds}, nil, &stdout, &stderr)
			if code != c.code || !json.Valid(stdout.Bytes()) {
				t.Errorf("exit code %d, want %d: %s%s", code, c.code, &stdout, &stderr)
			}
			for _, part := range c.want {
				if !strings.Contains(stdout.String(), part) {
					t.Errorf("no %q in %s", part, &stdout)
				}
			}
		})
	}
}

// TestRefused requires that the older version may refuse a file as newer, and no other file.
func TestRefused(t *testing.T) {
	w := []answer{{stdout: []byte("a\n"), keys: 2}}
	for _, c := range []struct {
		got       answer
		mayRefuse bool
		faults    int
	}{
		{answer{code: 2, stderr: "a.bloom: version 2: written by a newer version of Bloomery"}, true, 0},
		{answer{code: 2, stderr: "manifest: version 2; this program reads 1: use a newer Bloomery"}, true, 0},
		{answer{code: 2, stderr: "written by a newer version of Bloomery"}, false, 1},
		{answer{code: 1, stderr: "written by a newer version of Bloomery"}, true, 1},
		{answer{code: 2, stderr: "the file is damaged"}, true, 1},
		{answer{code: 0, stdout: []byte("a\n")}, true, 0},
		{answer{code: 0, stdout: []byte("b\n")}, true, 1},
	} {
		tr := &trial{exchange: &exchange{}}
		var d direction
		if tr.same(&d, c.mayRefuse, w, []answer{c.got}); len(tr.result.Faults) != c.faults {
			t.Errorf("%+v: %q", c.got, tr.result.Faults)
		}
	}
}

// TestKinds requires that every family, every subcommand that writes files, and every format of convert is in a script.
func TestKinds(t *testing.T) {
	root, err := outputOf(t.Context(), "git", "rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), []string{"--list"}, nil, &stdout, &stderr); code != 0 {
		t.Fatalf("--list: %s", &stderr)
	}
	for _, name := range families.Names() {
		if !strings.Contains(stdout.String(), "\nspec "+name) && !strings.HasPrefix(stdout.String(), "spec "+name) {
			t.Errorf("no spec of %s", name)
		}
	}
	kinds, err := specKinds(root)
	if err != nil {
		t.Fatal(err)
	}
	scripts := ""
	for _, k := range slices.Concat(kinds, formKinds, deltaKinds(), otherKinds, foreignKinds()) {
		scripts += "\n" + strings.Join([]string{k.make, k.ask, k.change, k.again, k.after}, "\n")
	}
	scripts = strings.ReplaceAll(strings.ReplaceAll(scripts, "\nrun ", "\n"), "\nall ", "\n")
	for _, command := range strings.Fields(`build check count get info verify add intersect merge optimize put remove trim
		diff follow keygen patch publish convert dedup`) {
		if !strings.Contains(scripts, "\n"+command+" ") {
			t.Errorf("no script has the command %s", command)
		}
	}
	for _, words := range []string{"exact build", "exact update", "exact check", "shard plan", "shard range",
		"shard build", "shard finish", "--ttl", "--state", "--secret-file", "--allow", "--trim --lower", "--column i32",
		"--rotate"} {
		if !strings.Contains(scripts, words) {
			t.Errorf("no script has %s", words)
		}
	}
}

func TestNextCandidates(t *testing.T) {
	for now, want := range map[string][2]string{
		"1.0.0-dev": {"1.0.0-rc.1", "1.0.0-rc.2"}, "1.0.0-rc.1": {"1.0.0-rc.2", "1.0.0-rc.3"},
		"1.0.0": {"1.0.1-rc.1", "1.0.1-rc.2"}, "1.2.9": {"1.2.10-rc.1", "1.2.10-rc.2"}, "v1": {"", ""},
	} {
		first, second, err := nextCandidates(now)
		if [2]string{first, second} != want || (err != nil) != (want[0] == "") {
			t.Errorf("%s: %s, %s, %v", now, first, second, err)
		}
	}
}

// TestNoTag requires a loud error if nothing is before HEAD: no comparison is taken for granted.
func TestNoTag(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q",
		"--allow-empty", "-m", "first"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	o := &options{}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.versions(t.Context(), root, t.TempDir(), &bytes.Buffer{}); err == nil ||
		!strings.Contains(err.Error(), "NOTHING WAS COMPARED: no tag") {
		t.Errorf("%v", err)
	}
}
