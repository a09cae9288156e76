package features

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// looks maps each row that is not measured to a pattern of exported names that look like its feature. A library that
// exports such a name needs a proof or an entry in innocent.
var looks = map[string]*regexp.Regexp{
	"Merge (union)":                       regexp.MustCompile(`(?i)merge|union`),
	"Intersect":                           regexp.MustCompile(`(?i)intersect`),
	"Clone":                               regexp.MustCompile(`(?i)clone|copy`),
	"Equal":                               regexp.MustCompile(`(?i)equal`),
	"Reset":                               regexp.MustCompile(`(?i)reset|clear`),
	"Number of keys, estimated from bits": regexp.MustCompile(`(?i)approx|estimatekeys|\.count$|\.n$|elemnum`),
	"Keys in common, with an interval":    regexp.MustCompile(`(?i)approx|overlap|common|jaccard`),
	"Test and add in one call":            regexp.MustCompile(`(?i)test.*add|addif|unique`),
	"Options":                             regexp.MustCompile(`(?i)^with|option|config`),
	"Remove a key":                        regexp.MustCompile(`(?i)remove|delete`),
	"Count how often a key was added":     regexp.MustCompile(`(?i)\.count`),
	"A value with each key":               regexp.MustCompile(`(?i)value|upsert|\.(get|put)$`),
	"Batch queries":                       regexp.MustCompile(`(?i)many|batch|bulk|all$`),
	"Files mapped into memory":            regexp.MustCompile(`(?i)mmap|mapped|^open`),
	"Queries on bytes without a copy":     regexp.MustCompile(`(?i)^from|frombytes|maycontain`),
	"Keyed hash (secret)":                 regexp.MustCompile(`(?i)secret|keyed|hasher|addhash|seed`),
	"Follows a file that is replaced":     regexp.MustCompile(`(?i)live|reload|watch`),
}

// innocent lists exported names that look like a feature but are not.
var innocent = map[string]string{
	"bits-and-blooms BloomFilter.ClearAll":    "Batch queries",
	"cuckoofilter Filter.Count":               "Count how often a key was added", // of all keys, without a parameter
	"cuckoofilter ScalableCuckooFilter.Count": "Count how often a key was added",
}

// api holds the names that a package exports for its filter.
type api struct {
	names    []string // functions as Name, methods and fields as Type.Name
	generic  bool     // a function or type has type parameters
	iterates bool     // the package imports iter
}

var apis sync.Map

// apiOf reads the source of a library's package.
func apiOf(t *testing.T, l library) api {
	t.Helper()
	if a, ok := apis.Load(l.path); ok {
		return a.(api)
	}
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", l.path).Output()
	if err != nil {
		t.Fatal(err)
	}
	notTest := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	var a api
	for _, name := range check(filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*.go"))) {
		if !notTest(check(os.Stat(name))) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			a.iterates = a.iterates || i.Path.Value == `"iter"`
		}
		for _, d := range f.Decls {
			a.add(d, l.types)
		}
	}
	if len(a.names) == 0 {
		t.Fatalf("%s exports nothing", l.path)
	}
	apis.Store(l.path, a)
	return a
}

// add adds a declaration if it is exported and belongs to the filter: a method of one of the types, a function that
// mentions one of them, or an exported field of one of them.
func (a *api) add(d ast.Decl, types []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() {
			return
		}
		if d.Recv != nil {
			if of := typeName(d.Recv.List[0].Type); slices.Contains(types, of) {
				a.names = append(a.names, of+"."+d.Name.Name)
			}
			return
		}
		if mentions(d.Type, types) {
			a.names = append(a.names, d.Name.Name)
			a.generic = a.generic || d.Type.TypeParams != nil
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			s, ok := s.(*ast.TypeSpec)
			if !ok || !slices.Contains(types, s.Name.Name) {
				continue
			}
			a.names = append(a.names, s.Name.Name)
			a.generic = a.generic || s.TypeParams != nil
			if st, ok := s.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, n := range f.Names {
						if n.IsExported() {
							a.names = append(a.names, s.Name.Name+"."+n.Name)
						}
					}
				}
			}
		}
	}
}

// typeName returns the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// mentions reports whether a signature contains one of the types.
func mentions(f *ast.FuncType, types []string) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && slices.Contains(types, id.Name)
		return !found
	})
	return found
}
