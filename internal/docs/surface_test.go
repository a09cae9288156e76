package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// public lists the packages with a stable API.
var public = []string{
	".", "filter", "plan", "exact", "publish", "publish/transport", "shard", "delta", "distribute", "interop",
	"interop/clubcard", "window", "tablefilter",
}

// TestSurface checks that every type in an exported declaration of a public package can be named outside of this
// module.
func TestSurface(t *testing.T) {
	atRoot(t)
	var found []string
	for _, dir := range public {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, p := range files {
			if strings.HasSuffix(p, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range internalNames(f) {
				found = append(found, dir+"."+name)
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	for _, name := range found {
		t.Errorf("%s names a type of an internal package", name)
	}
}

// internalNames returns the exported names of a file whose declarations name a type of an internal package.
func internalNames(f *ast.File) (names []string) {
	internal := map[string]bool{}
	for _, i := range f.Imports {
		to, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(to)
		if i.Name != nil {
			name = i.Name.Name
		}
		internal[name] = strings.Contains(to, "/internal/")
	}
	note := func(name string, what ast.Node) {
		ast.Inspect(what, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field: // an unexported field is not part of the surface
				if _, fields := what.(*ast.TypeSpec); fields && len(n.Names) > 0 && !n.Names[0].IsExported() {
					return false
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && internal[x.Name] {
					names = append(names, name)
				}
			}
			return true
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				of := receiver(d.Recv.List[0].Type)
				if !ast.IsExported(of) {
					continue
				}
				name = of + "." + name
			}
			if d.Name.IsExported() {
				note(name, d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
					note(s.Name.Name, s)
				}
			}
		}
	}
	return names
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestHeaderLicense checks that the C header, which users copy alone, contains the license.
func TestHeaderLicense(t *testing.T) {
	atRoot(t)
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if !strings.Contains(words(read("c/bloomery.h")), words(read("LICENSE"))) {
		t.Error("c/bloomery.h lacks the text of LICENSE")
	}
}
