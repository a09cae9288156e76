package docs_test

import (
	"bytes"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/bloomery/bloomery"

// rooms lists, for each room of this module and of the lab, the rooms that it may import. "internal/family/*" and
// "eval/lab/*" are all of those. Test files may also import filtertest, stat, keyio and the examples. ARCHITECTURE.md
// draws the same arrows.
var rooms = map[string][]string{
	"filter":               {"internal/sums"},
	"internal/sums":        {},
	"internal/parquetmeta": {"filter", "internal/container"},
	"internal/family":      {"filter"},
	"internal/bitvec":      {"filter"},
	"internal/bitmap":      {"filter", "internal/family", "internal/bitvec"},
	"internal/kernel":      {"filter", "internal/bitvec", "internal/probe"},
	"internal/stat":        {},
	"internal/parallel":    {"filter", "internal/family"},
	"internal/clock":       {},
	"internal/cli":         {"internal/container", "internal/untrusted"},
	"internal/untrusted":   {"filter", "internal/bitvec"},
	"internal/shrink":      {"filter"},
	"internal/retry":       {"filter", "internal/container", "shard"},
	"internal/inset":       {"filter", "internal/container", "internal/shardfile", "internal/shardset", "shard"},
	"internal/live":        {"filter", "internal/retry"},
	"internal/filtertest":  {"filter", "internal/family", "internal/stat"},
	"internal/probe":       {"filter", "internal/family"},
	"internal/batch":       {"filter", "internal/family"},
	"internal/anneal": {"filter", "internal/family", "internal/bitvec", "internal/kernel", "internal/hashes",
		"internal/parallel"},
	"internal/family/*": {"filter", "internal/family", "internal/anneal", "internal/hashes",
		"internal/batch", "internal/bitvec", "internal/bitmap", "internal/kernel",
		"internal/sums", "internal/probe", "internal/stat", "internal/parallel"},
	"internal/families": {"filter", "internal/family", "internal/family/*"},
	"internal/except":   {"filter", "internal/family", "internal/batch", "internal/bitvec", "internal/probe"},
	"internal/portable": {"filter", "internal/family", "internal/families", "internal/container"},
	"internal/container": {"filter", "internal/family", "internal/bitvec", "internal/sums", "internal/flock",
		"internal/untrusted"},
	"delta": {"filter", "internal/container", "shard", "internal/inset", "internal/patch", "internal/untrusted",
		"internal/shardset", "."}, // this one in tests only
	"internal/patch": {"filter", "internal/family", "internal/families", "internal/container", "shard",
		"internal/bitvec", "internal/sums", "internal/parallel", "internal/untrusted",
		"internal/shardfile", "internal/shardset", "exact"}, // the last one in tests only
	"shard": {"filter", "internal/container", "internal/families", "internal/family", "internal/family/*",
		"internal/hashes", "internal/shardfile", "internal/strictjson"},
	"internal/shardfile":  {"filter", "internal/container"},
	"internal/strictjson": {},
	"internal/shardset": {"filter", "internal/container", "internal/flock", "internal/shardfile",
		"internal/untrusted", "shard"},
	"internal/flock": {"internal/untrusted"},
	"internal/intake": {"filter", "internal/family", "internal/families", "internal/bitvec", "internal/kernel",
		"internal/hashes", "shard"},
	"window": {"filter", "internal/family", "internal/family/*", "internal/container", "internal/batch",
		"internal/bitvec", "internal/clock"}, // the last one in tests only
	"tablefilter":    {"filter", "internal/family", "internal/families", "internal/family/*"},
	"internal/keyio": {"filter", "internal/untrusted"},
	"plan":           {"filter", "internal/costs", "internal/family", "internal/families", "internal/parallel"},
	"internal/costs": {"filter", "internal/families"}, // the latter in tests only
	"internal/plot":  {},
	"eval/lab/measure": {"filter", "internal/costs", "internal/family", "internal/families", "internal/intake",
		"internal/kernel", "plan"},
	"eval/lab/traffic": {"internal/keyio"},
	"eval/lab/figure":  {"eval/plot", "internal/stat"},
	"eval/lab/paper": {"filter", "internal/family", "internal/family/rankindexed", "internal/family/partitioned",
		"internal/stat", "internal/probe"},
	"eval/lab/experiment": {"filter", "internal/family", "internal/family/standard", "internal/stat",
		"eval/lab/figure"},
	"eval/lab/dleft": {"filter", "internal/family", "internal/bitvec", "internal/probe"},
	"eval/lab/*": {"eval/lab/experiment", "eval/lab/dleft", "filter", "internal/family", "internal/keyio", "internal/family/*",
		"internal/stat", "eval/lab/traffic", "eval/lab/figure", "eval/lab/paper", "internal/anneal",
		"internal/costs", "internal/families", "plan", "eval/lab/measure"},
	"eval/lab/publish": {".", "filter", "shard", "internal/patch", "internal/drift", "eval/lab/experiment",
		"eval/lab/figure", "examples/domains"},
	"eval/lab/ribbon": {"eval/lab/experiment", "filter", "internal/family", "internal/families", "internal/family/*",
		"internal/container", "internal/stat", "eval/lab/figure", "internal/clock"},
	"eval/lab/exact":       {"eval/lab/experiment", "exact", "eval/lab/figure"},
	"eval/lab":             {"eval/lab/*"},
	"examples/domains":     {},
	"examples/cdn":         {".", "filter"},
	"examples/signup":      {".", "filter", "publish"},
	"examples/idempotency": {"filter", "window"},
	"internal/engine": {"filter", "internal/family", "internal/families", "internal/container", "shard",
		"internal/except", "internal/kernel"},
	"internal/engine/one": {"filter", "internal/family", "internal/families", "internal/container",
		"internal/engine", "internal/bitvec", "internal/except", "internal/inset", "internal/kernel", "internal/probe"},
	"internal/engine/shards": {"filter", "internal/family", "internal/families", "internal/container",
		"shard", "internal/engine", "internal/engine/one", "internal/bitvec", "internal/except",
		"internal/inset", "internal/kernel", "internal/parallel", "internal/retry", "internal/untrusted",
		"internal/shardfile", "internal/shardset"},
	"internal/bulk": {"filter", "internal/family", "internal/engine", "internal/hashes", "internal/intake",
		"internal/except", "internal/shrink", "internal/stat"},
	".": {"filter", "internal/family", "internal/families", "internal/container", "plan", "shard",
		"internal/engine", "internal/engine/one", "internal/engine/shards", "internal/bulk",
		"internal/except", "internal/flock", "internal/inset", "internal/intake", "internal/live",
		"internal/kernel", "internal/parallel", "internal/hashes", "internal/shrink", "internal/shardfile", "internal/shardset",
		"internal/bitvec", "internal/retry", "internal/untrusted"}, // these three in tests only
	"internal/hashes":    {"filter", "internal/family", "internal/parallel", "internal/sums"},
	"internal/shardtest": {".", "filter", "shard"},
	"internal/doctest":   {},
	"distribute":         {".", "filter", "internal/steps", "shard"},
	"internal/steps": {".", "filter", "internal/family", "internal/families", "internal/container",
		"internal/keyio", "shard", "internal/shardfile", "internal/shardset", "internal/engine", "internal/hashes",
		"internal/strictjson", "internal/untrusted", "internal/sums", "internal/parallel"},
	"exact": {"filter", "internal/family", "internal/container", "internal/family/*", "internal/hashes",
		"internal/probe", "internal/bitvec", "internal/live", "internal/retry", "internal/shrink",
		"internal/untrusted", "internal/sums"},
	"internal/drift": {},
	"publish": {".", "filter", "internal/family", "internal/families", "internal/container", "shard",
		"exact", "internal/drift", "internal/patch", "internal/live", "internal/except", "internal/flock",
		"internal/inset", "internal/shrink", "internal/strictjson",
		"internal/untrusted", "publish/transport", "internal/shardfile", "internal/shardset"},
	"publish/transport": {"internal/untrusted", "internal/body"},
	"internal/body":     {},
	"interop": {".", "filter", "internal/family", "internal/families", "internal/container", "internal/engine",
		"internal/parquetmeta",
		"internal/family/*", "internal/bitvec", "internal/probe"},
	"interop/clubcard": {"filter", "internal/container", "internal/untrusted"},
	"cmd/bloomery": {".", "interop", "interop/clubcard", "filter", "internal/family", "internal/families",
		"internal/container", "plan", "internal/keyio", "internal/plot", "examples/domains", "internal/steps",
		"internal/engine/one", "internal/intake", "internal/parquetmeta",
		"shard", "delta", "publish", "publish/transport", "exact", "window", "internal/cli", "internal/untrusted",
		"internal/inset", "internal/patch", "internal/shrink", "internal/bulk", "internal/engine",
		"internal/flock", "internal/shardfile", "internal/shardset"},
	"eval/lab/cmd/bloomery-lab": {"eval/lab", "eval/lab/*", "internal/container", "internal/families", "internal/cli"},
}

// labOnly are modules that only the lab uses, so that bloomery does not bring them along.
var labOnly = []string{"gonum.org/", "github.com/gopacket/"}

func TestLayers(t *testing.T) {
	arrows := 0
	check := func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." {
			_, err := os.Stat(filepath.Join(p, "go.mod")) // another module
			if err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		room := filepath.ToSlash(filepath.Dir(p))
		allowed, ok := rooms[room]
		if !ok {
			allowed, ok = rooms[generic(room)]
		}
		if !ok {
			t.Errorf("%s stands in a room that layers_test.go does not list", p)
			return nil
		}
		if strings.HasSuffix(p, "_test.go") {
			allowed = append(slices.Clone(allowed), room, "internal/filtertest", "internal/stat", "internal/keyio",
				"internal/shardtest", "internal/family", "examples/domains")
			if room == "eval/lab/scale" { // its tests compare sizes of formats
				allowed = append(allowed, "internal/hashes")
			}
			if room == "filter" { // its examples build sets
				allowed = append(allowed, ".")
			}
			if room == "." { // its tests patch files and folders
				allowed = append(allowed, "delta")
			}
			if room == "internal/container" || room == "shard" { // its tests build filters of every family
				allowed = append(allowed, "internal/families", "internal/family", "internal/family/*", "internal/except",
					"internal/sums")
			}
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			for _, heavy := range labOnly {
				if strings.HasPrefix(name, heavy) && !strings.HasPrefix(filepath.ToSlash(p), "eval/lab/") {
					t.Errorf("%s imports %s: only the lab may", p, name)
				}
			}
			if name != module && !strings.HasPrefix(name, module+"/") {
				continue
			}
			to := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
			if to == "" {
				to = "."
			}
			arrows++
			if !slices.Contains(allowed, to) && !slices.Contains(allowed, generic(to)) {
				t.Errorf("%s imports %s: no such arrow", p, to)
			}
		}
		return nil
	}

	err := errors.Join(filepath.WalkDir(".", check), filepath.WalkDir(filepath.Join("eval", "lab"), check))
	if err != nil || arrows < 20 {
		t.Fatalf("%d arrows seen: %v", arrows, err)
	}
}

// libraries are the libraries in modules of their own. They use public names of this module only, since a user may take
// a newer version of it: go get -u.
var libraries = []string{"buckets", "pebblefilter"}

// TestLibraries: no file of a library imports an internal package of this module, tests and their tools aside.
func TestLibraries(t *testing.T) {
	for _, dir := range libraries {
		files := 0
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return err
			}
			files++
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, i := range f.Imports {
				name, _ := strconv.Unquote(i.Path.Value)
				if strings.HasPrefix(name, module+"/internal/") && !strings.HasPrefix(filepath.ToSlash(p), serversForTests) {
					t.Errorf("%s imports %s, which another version of the module may not have", p, name)
				}
			}
			return nil
		})
		if err != nil || files == 0 {
			t.Errorf("%s: %d files, %v", dir, files, err)
		}
	}
}

// serversForTests starts servers that only tests need.
const serversForTests = "buckets/internal/reals3"

// TestWorkName: the name of the folder of working files stands in package shardfile only.
func TestWorkName(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(p)
		if n := strings.Count(string(text), `"work-`); n > 0 {
			found += n
			if p != filepath.Join("internal", "shardfile", "work.go") {
				t.Errorf("%s has the name", p)
			}
		}
		return err
	})
	if err != nil || found != 1 {
		t.Errorf("found %d times, %v", found, err)
	}
}

// generic returns the name under which a room is listed.
func generic(room string) string {
	if dir := path.Dir(room); dir == "internal/family" || dir == "eval/lab" {
		return dir + "/*"
	}
	return room
}

// homes lists the files of the root that may name a home of the engine: those that make, open or lock a Set. All others
// know engine.Engine only, so that no method of Set asks which form it has.
var homes = map[string][]string{
	"internal/engine/one":    {"builder.go", "combine.go", "file.go", "marshal.go", "set.go"},
	"internal/engine/shards": {"combine.go", "file.go"},
}

// TestRootKnowsNoForm also holds the size of the root: at most 15 files and 3,100 lines. Types that users see are
// declared in the root.
func TestRootKnowsNoForm(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	files = slices.DeleteFunc(files, func(p string) bool { return strings.HasSuffix(p, "_test.go") })
	lines := 0
	for _, p := range files {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(b, []byte("\n"))
	}
	if len(files) > 15 || lines > 3100 {
		t.Errorf("the root has %d files and %d lines: move what is not its face into a room", len(files), lines)
	}
	for _, p := range files {
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			if in, ok := homes[strings.TrimPrefix(name, module+"/")]; ok && !slices.Contains(in, p) {
				t.Errorf("%s imports %s; take a method of engine.Engine", p, name)
			}
		}
	}
}
