package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// others lists the packages of other modules on which the root package may depend.
var others = []string{
	"github.com/cespare/xxhash/v2", "github.com/dchest/siphash", "github.com/klauspost/cpuid/v2",
	"github.com/zeebo/xxh3", "golang.org/x/sys/cpu", "golang.org/x/sys/unix",
}

// mostPackages is the largest number of bloomery packages that the root package may depend on, including itself.
const mostPackages = 53

// goTool returns the go command.
func goTool(t *testing.T) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("NOT TESTED: the weight of programs, for there is no go command: %v", err)
	}
	return tool
}

// run returns the output of a command.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestWeight checks the packages that are compiled for a program that only opens and queries a filter.
func TestWeight(t *testing.T) {
	out := run(t, goTool(t), "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./testdata/open")
	ours := 0
	for _, p := range strings.Fields(out) {
		switch {
		case p == "github.com/bloomery/bloomery" || strings.HasPrefix(p, "github.com/bloomery/bloomery/"):
			ours++
		case strings.HasPrefix(p, "example.com/examples/"):
		case !slices.Contains(others, p):
			t.Errorf("%s is compiled", p)
		}
	}
	t.Logf("%d packages of bloomery", ours)
	if ours < 10 || ours > mostPackages {
		t.Errorf("%d packages of bloomery are compiled, want at most %d", ours, mostPackages)
	}
}

// unlinked matches functions that a program that only queries must not contain: builders, searches, forecasts, plans.
var unlinked = regexp.MustCompile(`bloomery/internal/(anneal|bulk|gather|grid|intake|patch|run|spool)\.[A-Z(]|` +
	`bloomery/(plan|delta|exact)\.[A-Z(]|families\.Costs$|/family/[a-z]+\.(New|NewBuilder|About)$|\.Config\.Forecast$|\)\.Reoptimize$`)

// TestWeightOfAsking builds programs that only query a filter, and limits their size and the linked packages. If it
// fails after a change, a table or a variable has probably made builders reachable: see the comment of makeList in
// internal/families.
func TestWeightOfAsking(t *testing.T) {
	tool := goTool(t)
	for program, most := range map[string]int64{"open": 3_375_000, "frombytes": 2_765_000} {
		t.Run(program, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "program")
			run(t, tool, "build", "-o", path, "./testdata/"+program)
			symbols := run(t, tool, "tool", "nm", path)
			for line := range strings.Lines(symbols) {
				f := strings.Fields(line)
				if len(f) == 3 && strings.EqualFold(f[1], "T") && unlinked.MatchString(f[2]) {
					t.Errorf("%s is linked", f[2])
				}
			}
			const notInlined = "github.com/bloomery/bloomery/internal/kernel.(*Query).askRaw"
			if !strings.Contains(symbols, notInlined) {
				t.Error("the symbols cannot be read")
			}
			run(t, tool, "build", "-ldflags=-s", "-o", path, "./testdata/"+program)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes for %s/%s with %s", info.Size(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			switch {
			case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
				t.Skip("NOT TESTED: the size, which is known for linux/amd64 only")
			case info.Size() > most:
				t.Errorf("%d bytes, want at most %d", info.Size(), most)
			}
		})
	}
}
