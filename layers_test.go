package bloomery_test

import (
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

// rooms lists, for each room of the module, the rooms that it may import. "family/*" and "internal/*" are all of those.
// Test files may also import filtertest, paper, keyio and the examples. ARCHITECTURE.md draws the same arrows.
var rooms = map[string][]string{
	"filter":              {},
	"internal/bitvec":     {"filter"},
	"internal/kernel":     {"filter", "internal/bitvec", "internal/probe"},
	"internal/stat":       {},
	"internal/clock":      {},
	"internal/untrusted":  {"filter", "internal/bitvec"},
	"internal/shrink":     {"filter"},
	"internal/retry":      {"filter", "container", "shard"},
	"internal/inset":      {"filter", "container", "shard"},
	"internal/live":       {"internal/retry"},
	"internal/filtertest": {"filter", "internal/stat"},
	"internal/probe":      {"filter"},
	"internal/stripe":     {"filter"},
	"internal/gather":     {"filter"},
	"internal/grid":       {},
	"internal/fill":       {"filter"},
	"internal/anneal":     {"filter", "internal/bitvec", "internal/kernel", "internal/gather", "internal/grid"},
	"family/*": {"filter", "internal/anneal", "internal/grid", "internal/gather", "internal/fill",
		"internal/bitvec", "internal/kernel", "internal/probe", "internal/stripe", "internal/stat"},
	"families":          {"filter", "family/*"},
	"internal/except":   {"filter", "internal/bitvec"},
	"internal/portable": {"filter", "families", "container"},
	"container":         {"filter", "internal/bitvec", "internal/untrusted"},
	"delta": {"filter", "families", "container", "shard", "internal/bitvec", "exact", "internal/trailer",
		"internal/inset", "internal/untrusted"},
	"shard":            {"filter", "container", "internal/flock", "internal/untrusted"},
	"internal/spool":   {"filter"},
	"internal/flock":   {"internal/untrusted"},
	"internal/run":     {"filter", "shard"},
	"internal/intake":  {"filter", "families", "internal/bitvec", "internal/run", "internal/spool"},
	"admission":        {"filter", "family/*"},
	"keyio":            {"filter", "internal/untrusted"},
	"plan":             {"filter", "families"},
	"plan/measure":     {"filter", "families", "plan"},
	"internal/traffic": {"keyio"},
	"internal/figure":  {"internal/stat"},
	"internal/paper":   {"filter", "family/rankindexed", "family/partitioned", "internal/stat", "internal/probe"},
	"lab/experiment":   {"filter", "family/standard", "internal/stat", "internal/figure"},
	"lab/*": {"lab/experiment", "filter", "keyio", "family/*", "admission", "internal/stat", "internal/traffic",
		"internal/figure", "internal/paper", "internal/anneal", "families", "plan", "plan/measure"},
	"lab/publish": {".", "filter", "shard", "delta", "publish", "lab/experiment", "internal/figure",
		"examples/domains"},
	"lab/ribbon": {"lab/experiment", "filter", "families", "family/*", "container", "internal/stat", "internal/figure",
		"internal/clock"},
	"lab/exact":        {"lab/experiment", "exact", "internal/figure"},
	"lab":              {"lab/*", "internal/figure"},
	"examples/domains": {},
	"examples/cdn":     {"admission"},
	"examples/signup":  {".", "publish"},
	"internal/engine":  {"filter", "container", "shard", "internal/except"},
	"internal/engine/one": {"filter", "families", "container", "internal/engine", "internal/bitvec", "internal/except",
		"internal/inset", "internal/probe"},
	"internal/engine/shards": {"filter", "families", "container", "shard", "internal/engine", "internal/engine/one",
		"internal/bitvec", "internal/except", "internal/inset", "internal/retry", "internal/untrusted"},
	"internal/bulk": {"filter", "internal/engine", "internal/gather", "internal/intake", "internal/run", "internal/spool",
		"internal/stat"},
	".": {"filter", "families", "container", "plan", "shard", "internal/engine", "internal/engine/one",
		"internal/engine/shards", "internal/bulk", "internal/except", "internal/flock", "internal/inset", "internal/intake",
		"internal/live", "internal/run", "internal/shrink",
		"internal/bitvec", "internal/retry", "internal/untrusted"}, // these three in tests only
	"distribute": {".", "filter", "families", "container", "keyio", "shard", "internal/run",
		"internal/untrusted"},
	"exact": {"filter", "container", "family/*", "internal/gather", "internal/probe", "internal/bitvec",
		"internal/live", "internal/retry", "internal/shrink", "internal/trailer", "internal/untrusted"},
	"internal/trailer": {"container"},
	"publish": {".", "filter", "families", "container", "shard", "delta", "exact", "internal/except", "internal/flock",
		"internal/shrink", "internal/untrusted", "publish/transport"},
	"publish/transport": {"internal/untrusted"},
	"interop":           {".", "filter", "families", "container", "family/*", "internal/bitvec", "internal/probe"},
	"interop/clubcard":  {"container", "internal/untrusted"},
	"cmd/bloomery": {".", "interop", "interop/clubcard", "filter", "families", "container", "plan", "plan/measure",
		"keyio", "lab", "internal/figure", "examples/domains", "distribute", "shard", "delta", "publish",
		"publish/transport", "exact", "internal/untrusted", "internal/inset", "internal/shrink"},
}

func TestLayers(t *testing.T) {
	arrows := 0
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
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
			allowed = append(slices.Clone(allowed), room, "internal/filtertest", "internal/paper", "internal/stat", "keyio", "examples/domains")
			if room == "lab/scale" { // its tests compare sizes of formats
				allowed = append(allowed, "internal/run")
			}
			if room == "." { // its tests patch files and folders
				allowed = append(allowed, "delta")
			}
			if room == "container" || room == "shard" { // its tests build filters of every family
				allowed = append(allowed, "families", "family/*", "internal/except")
			}
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
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
	})
	if err != nil || arrows < 20 {
		t.Fatalf("%d arrows seen: %v", arrows, err)
	}
}

// TestWorkName: the name of the folder of working files stands in package shard only.
func TestWorkName(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(p)
		if n := strings.Count(string(text), `"work-`); n > 0 {
			found += n
			if p != filepath.Join("shard", "work.go") {
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
	if dir := path.Dir(room); dir == "family" || dir == "lab" {
		return dir + "/*"
	}
	return room
}
