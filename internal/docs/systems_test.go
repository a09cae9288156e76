package docs_test

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bySystem lists the files of the modules for users that differ by operating system: what differs, and the tests of it.
// Tests run on Linux; .ci/wine runs many under Wine. For macOS the files are only compiled.
var bySystem = []struct{ files, differs, tests string }{
	{"internal/bitvec/os_{linux,other}", "huge pages, memory given back: Linux only",
		"cmd/bloomery.TestMemoryOfBuild"},
	{"internal/cli/cli", "signals and exit codes", "cmd/bloomery.TestSignal cmd/bloomery.TestSecondSignal"},
	{"internal/cli/streams_{unix,other}", "a closed standard error or output",
		"cmd/bloomery.TestStderrWithoutReader"},
	{"internal/container/atomic", "replacing an open file; a full disk; a mounted file",
		"internal/container.TestReplaceOpen internal/container.TestDiskFull internal/container.TestMounted"},
	{"internal/container/attributes_{linux,unix}", "ACLs and attributes: Linux only",
		"internal/container.TestAttributes"},
	{"internal/container/lock internal/container/lock_{unix,windows,other}", "locks; a separate lock file on Windows",
		"internal/container.TestLock internal/container.TestLockFile"},
	{"internal/container/map_{unix,other}", "mapped files: Unix only",
		"internal/settest.TestFiles internal/settest.TestErr"},
	{"internal/container/owner_{unix,other}", "owner, group, hard links: Unix only", "internal/container.TestOwner"},
	{"internal/engine/shards/read", "too many open files", "internal/engine/shards.TestShardedFewFiles"},
	{"internal/engine/shards/write", "removing open files", "internal/engine/shards.TestShardedAdd"},
	{"internal/live/retry", "errors of the system are transient", "internal/live.TestPassing"},
	{"internal/steps/dir", "patterns are no names on Windows", "internal/steps.TestFolderPatterns"},
	{"internal/untrusted/busy", "files in use on Windows",
		"internal/untrusted.TestWhileBusy internal/untrusted.TestOpenBusy"},
	{"internal/untrusted/open_{unix,other}", "links and pipes", "internal/untrusted.TestPipe"},
	{"publish/foreign_{unix,other}", "owners of files", "publish.TestForeignFiles"},
	{"publish/follow publish/follow_run", "errors of the system are transient", "internal/settest.TestTooManyFiles"},
	{"publish/states", "a read-only key", "publish.TestReadOnlyKey"},
	{"cmd/bloomery/hints", "advice for a full disk", "cmd/bloomery.TestHintFlags"},
	{"cmd/bloomery/main", "the system's name in --version", "cmd/bloomery.TestScripts"},
	{"cmd/bloomery/publish", "permissions of a key", "cmd/bloomery.TestScripts"},
	{"buckets/place", "errors of the system are transient", "buckets.TestFaults"},
	{"buckets/cmd/bloomery-bucket/main", "signals, as Go's NotifyContext has them", ""},
	{"beam/cmd/bloomery-beam/main", "exit codes of signals", ""},
	{"beam/job/bind_{linux,other}", "Prism's ports of this machine only: Linux", "beam/job.TestPrismIsLocal"},
	{"pebblefilter/compare/main pebblefilter/next/compare/main", "signals", "pebblefilter/internal/trial.TestStop"},
	{"pebblefilter/internal/trial/clock_{linux,other}", "clocks of processor time",
		"pebblefilter/internal/trial.TestRatio"},
}

// namesSystem finds the suffix of a file, or the tag of a constraint, for an operating system.
var namesSystem = regexp.MustCompile(`\b(aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|` +
	`plan9|solaris|unix|wasip1|windows)\b`)

// differsBySystem reports whether a file is for some systems only, or asks for the system, its errors or signals.
func differsBySystem(t *testing.T, file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.TrimSuffix(path.Base(file), ".go"), "_")
	isSystem := func(part string) bool { return part != "unix" && namesSystem.MatchString(part) }
	if slices.ContainsFunc(parts[1:], isSystem) {
		return true
	}

	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if constraint.IsGoBuild(c.Text) && namesSystem.MatchString(c.Text) {
				return true
			}
		}
	}
	return strings.Contains(string(text), "runtime.GOOS") || slices.ContainsFunc(f.Imports, isOfSystem)
}

func isOfSystem(i *ast.ImportSpec) bool {
	name := strings.Trim(i.Path.Value, `"`)
	ofSys, ok := strings.CutPrefix(name, "golang.org/x/sys/")
	return name == "syscall" || name == "os/signal" || ok && ofSys != "cpu"
}

// TestSystems compares bySystem with the sources, and checks that its tests exist.
func TestSystems(t *testing.T) {
	atRoot(t)
	listed := map[string]bool{}
	for _, row := range bySystem {
		for name := range strings.FieldsSeq(row.files) {
			stem, forms, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
			for form := range strings.SplitSeq(forms, ",") {
				listed[stem+form+".go"] = true
			}
		}
		for name := range strings.FieldsSeq(row.tests) {
			if room, test, _ := strings.Cut(name, "."); !hasTest(t, room, test) {
				t.Errorf("%s: there is no test %s in %s", row.files, test, room)
			}
		}
	}

	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		file = filepath.ToSlash(file)
		switch {
		case err != nil:
			return err
		// eval and examples are for developers of this repository; generators run on their machines only.
		case d.IsDir() && (slices.Contains([]string{"eval", "examples", "js", "python", "internal/kernel/gen"}, file) ||
			strings.HasPrefix(d.Name(), ".") && file != "."):
			return fs.SkipDir
		case d.IsDir() || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		if differs := differsBySystem(t, file); differs != listed[file] {
			t.Errorf("%s differs by system: %v; in bySystem: %v", file, differs, listed[file])
		}
		delete(listed, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range listed {
		t.Errorf("bySystem: there is no file %s", file)
	}
}

// hasTest reports whether a folder has a test of this name.
func hasTest(t *testing.T, room, test string) bool {
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(room), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "func "+test+"(t *testing.T)")
	})
}
