package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the import path of the root package.
const root = "github.com/bloomery/bloomery"

// printed lists the methods that signatures_packages_test.go omits.
var printed = []string{
	"Error", "Unwrap", "Format", "GoString", "LogValue", "MarshalJSON", "MarshalText", "UnmarshalText", "String",
}

// TestImports checks that no file of this module, including tests, imports internal packages, because users cannot
// import them.
func TestImports(t *testing.T) {
	imported := 0
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		for _, p := range importsOf(t, name) {
			if p == root || strings.HasPrefix(p, root+"/") {
				imported++
			}
			if strings.Contains("/"+p+"/", "/internal/") {
				t.Errorf("%s imports %s", name, p)
			}
		}
		return nil
	})
	if err != nil || imported == 0 {
		t.Errorf("%d imports of packages of %s, %v", imported, root, err)
	}
}

// TestSignatures requires this module to have the signatures of all functions and methods of the public packages.
func TestSignatures(t *testing.T) {
	stated := map[string]map[string]bool{}
	interfaces := map[string]*ast.InterfaceType{}
	for _, name := range []string{"signatures_test.go", "signatures_packages_test.go"} {
		ast.Inspect(parse(t, name), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if i, ok := n.Type.(*ast.InterfaceType); ok {
					interfaces[n.Name.Name] = i
				}
			case *ast.ValueSpec:
				state(stated, interfaces, n)
			}
			return true
		})
	}
	for _, p := range importsOf(t, "signatures_packages_test.go") {
		if p != root && !strings.HasPrefix(p, root+"/") {
			continue
		}
		dir := strings.TrimSpace(run(t, goTool(t), "list", "-f", "{{.Dir}}", p))
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", p, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, name := range exported(parse(t, file)) {
				method := name[strings.LastIndexByte(name, '.')+1:]
				if p != root && method != name && slices.Contains(printed, method) {
					continue
				}
				if !stated[path.Base(p)][name] {
					t.Errorf("the signature of %s.%s is not stated", path.Base(p), name)
				}
			}
		}
	}
	if len(stated["bloomery"]) < 100 {
		t.Errorf("only %d names of the root package", len(stated["bloomery"]))
	}
}

// state records the functions and methods whose signatures a declaration states, by package.
func state(stated map[string]map[string]bool, interfaces map[string]*ast.InterfaceType, v *ast.ValueSpec) {
	if len(v.Values) != 1 {
		return
	}
	var in, name string
	ast.Inspect(v.Values[0], func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && name == "" {
			if x, ok := s.X.(*ast.Ident); ok {
				in, name = x.Name, s.Sel.Name
			}
		}
		return name == ""
	})
	if stated[in] == nil {
		stated[in] = map[string]bool{}
	}
	methods := func(i *ast.InterfaceType) {
		for _, m := range i.Methods.List {
			for _, n := range m.Names {
				stated[in][name+"."+n.Name] = true
			}
		}
	}
	switch of := v.Type.(type) {
	case *ast.FuncType:
		stated[in][name] = true
	case *ast.InterfaceType:
		methods(of)
	case *ast.IndexExpr:
		if x, ok := of.X.(*ast.Ident); ok && interfaces[x.Name] != nil {
			methods(interfaces[x.Name])
		}
	}
}

// exported returns the exported functions of a file and the exported methods of its exported types.
func exported(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !fn.Name.IsExported() {
			continue
		}
		if fn.Recv == nil {
			names = append(names, fn.Name.Name)
			continue
		}
		of := fn.Recv.List[0].Type
		if p, ok := of.(*ast.StarExpr); ok {
			of = p.X
		}
		if p, ok := of.(*ast.IndexExpr); ok {
			of = p.X
		}
		if x, ok := of.(*ast.Ident); ok && x.IsExported() {
			names = append(names, x.Name+"."+fn.Name.Name)
		}
	}
	return names
}

func parse(t *testing.T, name string) *ast.File {
	t.Helper()
	return must(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
}

// importsOf returns the import paths of a file.
func importsOf(t *testing.T, name string) (all []string) {
	t.Helper()
	for _, i := range parse(t, name).Imports {
		all = append(all, must(strconv.Unquote(i.Path.Value))(t))
	}
	return all
}
