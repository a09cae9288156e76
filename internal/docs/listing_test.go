package docs_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var updateListing = flag.Bool("update-api", false, "write the listings in docs/api")

// most is the largest number of functions, methods and types of each public package, and of all together.
var most = map[string]int{
	".": 152, "filter": 56, "plan": 15, "exact": 40, "publish": 45, "publish/transport": 14, "shard": 23, "delta": 8,
	"distribute": 15, "interop": 15, "interop/clubcard": 15, "window": 20,
	"tablefilter": 10,
}

const mostTogether = 416

// beside lists the public packages of the other modules.
var beside = []string{
	"beam/job", "beam/parquet", "buckets", "buckets/cloud", "buckets/gcs", "buckets/s3", "otel",
	"pebblefilter",
}

// commands lists the programs.
var commands = []string{
	"cmd/bloomery", "beam/cmd/bloomery-beam", "buckets/cmd/bloomery-bucket", "eval/lab/cmd/bloomery-lab",
}

// TestListing compares everything public with its listing in docs/api, so that every change is visible: the Go names of
// all modules, the commands, and the C header. It limits the number of names in the root module. js/test/api.test.mjs
// and python/tests/test_api.py compare the other languages. After an intended change:
// go test ./internal/docs -run TestListing -update-api
func TestListing(t *testing.T) {
	atRoot(t)
	s := newSources(t)
	together := 0
	for _, dir := range public {
		lines := s.goNames(dir)
		n := 0
		for _, l := range lines {
			if strings.HasPrefix(l, "func ") || strings.HasPrefix(l, "type ") {
				n++
			}
		}
		if together += n; n > most[dir] {
			t.Errorf("%s has %d functions, methods and types, at most %d", dir, n, most[dir])
		}
		compareListing(t, dir, lines)
	}
	t.Logf("%d functions, methods and types", together)
	if together > mostTogether {
		t.Errorf("%d functions, methods and types, at most %d", together, mostTogether)
	}

	for _, dir := range beside {
		compareListing(t, dir, s.goNames(dir))
	}
	for _, dir := range commands {
		compareListing(t, dir, s.commandLines(dir))
	}
	compareListing(t, "c", s.headerLines())
}

// listingFile returns the path of the listing of a folder.
func listingFile(dir string) string {
	if dir == "." {
		dir = "bloomery"
	}
	return "docs/api/" + strings.ReplaceAll(dir, "/", "-") + ".txt"
}

// compareListing compares sorted lines with the listing of a folder, or with -update-api writes the listing.
func compareListing(t *testing.T, dir string, lines []string) {
	t.Helper()
	file := listingFile(dir)
	if *updateListing {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	listed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if changes := listingChanges(string(listed), lines); changes != "" {
		t.Errorf("%s differs:\n%sFrom 1.0.0 on, what is listed is frozen (docs: stability). "+
			"If the change is intended, run\n  go test ./internal/docs -run TestListing -update-api", file, changes)
	}
}

// listingChanges returns a line for each line that was removed from a listing or added to it.
func listingChanges(listed string, lines []string) (changes string) {
	old := strings.Split(strings.TrimSuffix(listed, "\n"), "\n")
	for _, l := range old {
		if !slices.Contains(lines, l) {
			changes += "  gone or changed: " + l + "\n"
		}
	}
	for _, l := range lines {
		if !slices.Contains(old, l) {
			changes += "  new: " + l + "\n"
		}
	}
	return changes
}

// sources reads packages of the repository from their source files, so that packages of other modules need none of
// their dependencies.
type sources struct {
	t        *testing.T
	set      *token.FileSet
	replace  func(file, text string) string // changes the text of a file that is read; nil: none
	packages map[string]*source             // by folder
	outside  types.Importer                 // of packages outside of the repository
}

// source is a package of the repository.
type source struct {
	files []*ast.File // without tests, of all systems
	types *types.Package
	info  *types.Info
}

func newSources(t *testing.T) *sources {
	t.Helper()
	list := func(args ...string) []string {
		cmd := exec.Command("go", append([]string{"list", "-deps"}, args...)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}

	// Only packages outside of the repository are compiled.
	outside := list("-f", `{{if not (and .Module .Module.Main)}}{{.ImportPath}}{{end}}`, "./cmd/bloomery")
	outside = slices.DeleteFunc(outside, func(name string) bool { return strings.HasPrefix(name, "vendor/") })
	compiled := map[string]string{}
	for _, line := range list(append([]string{"-export", "-f", "{{.ImportPath}}={{.Export}}"}, outside...)...) {
		name, file, _ := strings.Cut(line, "=")
		compiled[name] = file
	}

	set := token.NewFileSet()
	return &sources{t: t, set: set, packages: map[string]*source{},
		outside: importer.ForCompiler(set, "gc", func(name string) (io.ReadCloser, error) {
			if compiled[name] == "" {
				return nil, fmt.Errorf("%s is not a dependency of the command", name)
			}
			return os.Open(compiled[name])
		})}
}

// read returns the text of a file.
func (s *sources) read(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.replace != nil {
		return s.replace(file, string(text))
	}
	return string(text)
}

// Import implements types.Importer.
func (s *sources) Import(name string) (*types.Package, error) {
	if name == module || strings.HasPrefix(name, module+"/") {
		return s.load(path.Join(".", strings.TrimPrefix(name, module))).types, nil
	}
	return s.outside.Import(name)
}

// load reads the package of a folder. Types from modules that are missing here stay unknown.
func (s *sources) load(dir string) *source {
	if p := s.packages[dir]; p != nil {
		return p
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		s.t.Fatalf("%s: %d files, %v", dir, len(names), err)
	}
	p := &source{info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs: map[*ast.Ident]types.Object{}}}
	s.packages[dir] = p

	var here []*ast.File // of this system
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(s.set, name, s.read(name), parser.SkipObjectResolution)
		if err != nil {
			s.t.Fatal(err)
		}
		p.files = append(p.files, f)
		if ok, err := build.Default.MatchFile(dir, filepath.Base(name)); err != nil {
			s.t.Fatal(err)
		} else if ok {
			here = append(here, f)
		}
	}
	config := types.Config{Importer: s, Error: func(error) {},
		IgnoreFuncBodies: dir != "internal/cli" && !slices.Contains(commands, dir)}
	p.types, _ = config.Check(path.Join(module, dir), s.set, here, p.info) // errors: of unknown types
	return p
}

// text returns a node as source on one line.
func (s *sources) text(n any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, s.set, n); err != nil {
		s.t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// goNames returns a line for each public declaration of a package, sorted: functions, methods and types, fields of
// structs, constants with their values, and variables. Methods of an unexported type that an exported one embeds are
// public, too.
func (s *sources) goNames(dir string) []string {
	p := s.load(dir)
	embedded := map[string]bool{}
	lines := map[string]bool{}
	for _, f := range p.files {
		for _, d := range f.Decls {
			d, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if name.IsExported() {
							lines[fmt.Sprint(d.Tok, " ", name.Name, valueText(p.types, name.Name))] = true
						}
					}
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						for _, l := range s.typeLines(spec, embedded) {
							lines[l] = true
						}
					}
				}
			}
		}
	}

	for _, f := range p.files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Name.IsExported() {
				if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) || embedded[receiver(d.Recv.List[0].Type)] {
					lines[s.text(&ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type})] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(lines))
}

// valueText returns the type of a variable or constant, and the value of a constant, as far as they are known.
func valueText(p *types.Package, name string) string {
	object := p.Scope().Lookup(name)
	if object == nil || object.Type() == types.Typ[types.Invalid] {
		return ""
	}
	text := ""
	if b, ok := object.Type().(*types.Basic); !ok || b.Info()&types.IsUntyped == 0 {
		text = " " + types.TypeString(object.Type(), shortNames(p))
	}
	if c, ok := object.(*types.Const); ok && c.Val().Kind() != constant.Unknown {
		text += " = " + constantText(c.Type(), c.Val())
	}
	return text
}

// shortNames qualifies types of other packages than p by the name of their package.
func shortNames(p *types.Package) types.Qualifier {
	return func(other *types.Package) string {
		if other == p {
			return ""
		}
		return other.Name()
	}
}

func constantText(t types.Type, v constant.Value) string {
	if t.String() == "time.Duration" {
		n, _ := constant.Int64Val(v)
		return time.Duration(n).String()
	}
	if v.Kind() == constant.String {
		return v.ExactString() // String cuts it
	}
	return v.String()
}

// typeLines returns the lines of an exported type, and adds the unexported types that it embeds to embedded.
func (s *sources) typeLines(spec *ast.TypeSpec, embedded map[string]bool) []string {
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return []string{"type " + s.text(spec)}
	}

	head := spec.Name.Name
	if spec.TypeParams != nil {
		var all []string
		for _, p := range spec.TypeParams.List {
			all = append(all, p.Names[0].Name+" "+s.text(p.Type))
		}
		head += "[" + strings.Join(all, ", ") + "]"
	}

	lines := []string{"type " + head + " struct"}
	for _, f := range fields.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = " " + f.Tag.Value
		}
		if len(f.Names) == 0 {
			embedded[receiver(f.Type)] = true
			lines = append(lines, fmt.Sprintf("field %s embeds %s%s", spec.Name.Name, s.text(f.Type), tag))
		}
		for _, name := range f.Names {
			if name.IsExported() {
				lines = append(lines, fmt.Sprintf("field %s.%s %s%s", spec.Name.Name, name.Name, s.text(f.Type), tag))
			}
		}
	}
	return lines
}

// TestListingBreaks changes public things in the sources, and checks that the comparison reports each of them.
func TestListingBreaks(t *testing.T) {
	atRoot(t)
	breaks := []struct{ dir, file, old, new, report string }{
		{".", "set.go", "func (s *Set) Len(", "func (s *Set) Size(", "gone or changed: func (s *Set) Len() uint64"},
		{"exact", "exact/builder.go", "Workers  int", "Workers  uint", "new: field Config.Workers uint"},
		{"filter", "filter/secret.go", "SecretSize = 16", "SecretSize = 32", "new: const SecretSize = 32"},
		{"buckets", "buckets/query.go", "func (s *Set) Contains(", "func (s *Set) Has(",
			"new: func (s *Set) Has(key []byte) bool"},
		{"otel", "otel/config.go", `"save_interval"`, `"interval"`,
			"gone or changed: field Config.SaveInterval time.Duration `mapstructure:\"save_interval\"`"},
		{"cmd/bloomery", "cmd/bloomery/report.go", `{"fpr_exceeded", `, `{"exceeded", `,
			"new: bloomery info json exceeded bool"},
		{"cmd/bloomery", "plan/rank.go", `json:"file_bytes"`, `json:"file_bytes,omitempty"`,
			"new: bloomery plan json choices.file_bytes uint64, omitempty"},
		{"cmd/bloomery", "cmd/bloomery/flags.go", `"max-fpr"`, `"max-rate"`,
			"gone or changed: bloomery merge flag --max-fpr float64"},
		{"cmd/bloomery", "internal/cli/cli.go", "ExitNo    = 1", "ExitNo    = 3", "new: bloomery ExitNo = 3"},
		{"cmd/bloomery", "internal/cli/cli.go", `json:"hint,omitempty"`, `json:"advice"`, "new: bloomery json advice string"},
		{"beam/cmd/bloomery-beam", "beam/cmd/bloomery-beam/build.go", `"512MiB"`, `"1GiB"`,
			`new: bloomery-beam flag --memory string = "1GiB"`},
		{"buckets/cmd/bloomery-bucket", "buckets/cmd/bloomery-bucket/check.go", `"plan": m.ID()`, `"id": m.ID()`,
			"new: bloomery-bucket info json id string"},
		{"c", "c/bloomery.h", "uint64_t bloomery_count(", "uint32_t bloomery_count(", "new: uint32_t bloomery_count("},
	}

	s := newSources(t)
	s.replace = func(file, text string) string {
		for _, b := range breaks {
			if b.file != file {
				continue
			}
			if !strings.Contains(text, b.old) {
				t.Errorf("%s lacks %s", file, b.old)
			}
			text = strings.ReplaceAll(text, b.old, b.new)
		}
		return text
	}
	for _, b := range breaks {
		lines := s.goNames
		switch {
		case slices.Contains(commands, b.dir):
			lines = s.commandLines
		case b.dir == "c":
			lines = func(string) []string { return s.headerLines() }
		}
		listed, err := os.ReadFile(listingFile(b.dir))
		if err != nil {
			t.Fatal(err)
		}
		if changes := listingChanges(string(listed), lines(b.dir)); !strings.Contains(changes, b.report) {
			t.Errorf("%s with %s: got\n%s, want %s", b.file, b.new, changes, b.report)
		}
	}
}
