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

// atRoot runs the rest of a test in the root of the repository, so that its paths are written as from there. TestMain
// cannot do this, because Go's cache of test results tracks only changes of the folder by a running test.
func atRoot(t *testing.T) { t.Chdir("../..") }

// layers lists the rooms of this module and of the lab, from the bottom up. A room may import only rooms of lower
// layers. "internal/family/*" and "eval/lab/*" are all rooms there that no other line names. A new room belongs into
// the lowest layer that its imports allow.
var layers = [][]string{
	// Rooms that are independent of filters.
	{"internal/docs", "internal/plot", "internal/stat", "internal/strictjson", "internal/sums",
		"cmd/bloomery/domains"},

	// Types of all signatures, and the parts of families.
	{"filter"},
	{"internal/family", "internal/drift"},
	{"internal/bitvec", "internal/filtertest", "internal/parallel"},
	{"internal/probe"},
	{"internal/hashes", "internal/kernel", "internal/except", "internal/untrusted"},
	{"internal/anneal", "internal/keyio", "publish/transport"},
	{"internal/family/*"},
	{"internal/families"},

	// Files of one filter, and plans.
	{"internal/container", "tablefilter"},
	{"plan", "window", "interop/clubcard", "internal/cli", "interop/internal/parquetmeta"},

	// Folders of many filters.
	{"shard"},
	{"internal/engine", "internal/intake", "internal/shardset", "internal/live"},
	{"internal/bulk", "internal/engine/one", "exact"},
	{"internal/engine/shards", "internal/patch"},
	{"delta"},

	// Sets and their users.
	{"."},
	{"internal/settest"},
	{"internal/steps", "interop", "publish"},
	{"distribute"},
	{"cmd/bloomery"},

	// The lab, in a separate module.
	{
		"eval/plot", "eval/lab/capture", "eval/lab/clock", "eval/lab/dleft", "eval/lab/measure", "eval/lab/paper",
		"eval/lab/traffic",
	},
	{"eval/lab/figure"},
	{"eval/lab/experiment"},
	{"eval/lab/*"},
	{"eval/lab/flows"},
	{"eval/lab"},
	{"eval/lab/cmd/bloomery-lab"},
}

// upward lists the imports of tests from their own layer or above. Other files have no exceptions.
var upward = map[string][]string{
	// Its examples build sets.
	"filter": {"."},
	// Helpers of its tests, and an example that follows a published list.
	".": {"internal/settest", "publish"},
	// Its examples make the files that they compare.
	"delta": {"."},
	// Its tests check that all functions that open sets refuse files of windows.
	"window": {".", "internal/settest", "shard"},
	// Its tests use sharded sets as users do.
	"internal/engine/shards": {".", "delta", "internal/settest"},
}

// labOnly lists modules that only eval may use, so that bloomery does not depend on them.
var labOnly = []string{"gonum.org/", "github.com/gopacket/"}

// layerOf returns the number of the layer of a room, or -1, and the line that names it.
func layerOf(room string) (layer int, line string) {
	for _, name := range []string{room, path.Dir(room) + "/*"} {
		for i, rooms := range layers {
			if slices.Contains(rooms, name) {
				return i, name
			}
		}
	}
	return -1, ""
}

// TestLayers reads the imports of every file, tests included, and checks them against the order of layers.
func TestLayers(t *testing.T) {
	atRoot(t)
	arrows, named, used := 0, map[string]bool{}, map[string]bool{}
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
		layer, line := layerOf(room)
		if layer < 0 {
			t.Errorf("%s: the room %s is in no layer. Add it to layers in internal/docs/layers_test.go, above all rooms "+
				"that it imports, and to the map in ARCHITECTURE.md", p, room)
			return nil
		}
		named[line] = true

		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			for _, heavy := range labOnly {
				if strings.HasPrefix(name, heavy) && !strings.HasPrefix(room, "eval/") {
					t.Errorf("%s imports %s, which only eval may", p, name)
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

			test := strings.HasSuffix(p, "_test.go")
			if test && to == room { // an external test imports its own room
				continue
			}
			below, _ := layerOf(to)
			if below >= 0 && below < layer {
				continue
			}
			if test && slices.Contains(upward[room], to) {
				used[room+" "+to] = true
				continue
			}
			t.Errorf("%s, in layer %d, imports %s of layer %d, which must be lower. Move what both need into a room "+
				"below; or move a room in layers of internal/docs/layers_test.go, if its order is wrong", p, layer, to, below)
		}
		return nil
	}

	err := errors.Join(filepath.WalkDir(".", check), filepath.WalkDir(filepath.Join("eval", "lab"), check),
		filepath.WalkDir(filepath.Join("eval", "plot"), check))
	if err != nil || arrows < 20 {
		t.Fatalf("%d arrows seen: %v", arrows, err)
	}

	for _, rooms := range layers {
		for _, room := range rooms {
			if !named[room] {
				t.Errorf("there is no room %s: remove it from layers", room)
			}
		}
	}
	for room, all := range upward {
		for _, to := range all {
			if !used[room+" "+to] {
				t.Errorf("no test of %s imports %s: remove the exception", room, to)
			}
		}
	}
}

// libraries lists the libraries in separate modules. They may use only public names of this module, since a user may
// combine them with a newer version of it (go get -u).
var libraries = []string{"buckets", "otel", "pebblefilter"}

// TestLibraries checks that no file of a library, except tests and their tools, imports an internal package of this
// module.
func TestLibraries(t *testing.T) {
	atRoot(t)
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

// TestWorkName checks that only package shardset contains the name of the folder of working files.
func TestWorkName(t *testing.T) {
	atRoot(t)
	found := 0
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(p)
		if n := strings.Count(string(text), `"work-`); n > 0 {
			found += n
			if p != filepath.Join("internal", "shardset", "manifest.go") {
				t.Errorf("%s has the name", p)
			}
		}
		return err
	})
	if err != nil || found != 1 {
		t.Errorf("found %d times, %v", found, err)
	}
}

// homes lists the files of the root that may import an implementation of the engine: the files that make, open or lock
// a Set. All other files may use only engine.Engine, so that no method of Set depends on its form.
var homes = map[string][]string{
	"internal/engine/one":    {"bloomery.go", "builder.go", "combine.go", "file.go", "set.go"},
	"internal/engine/shards": {"combine.go", "file.go"},
}

// TestRootKnowsNoForm also limits the size of the root: at most 14 files and 3,100 lines of sources, and 47 entries
// that a visitor sees. Types of signatures are declared in the root.
func TestRootKnowsNoForm(t *testing.T) {
	atRoot(t)
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	if len(entries) > 47 {
		t.Errorf("the root has %d entries, at most 47: tests of public names live in internal/settest", len(entries))
	}

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
	if len(files) > 14 || lines > 3100 {
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
