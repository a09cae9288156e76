package docs_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateListing = flag.Bool("update-api", false, "write the listings in docs/api")

// most is the largest number of functions, methods and types of each public package, and of all together.
var most = map[string]int{
	".": 152, "filter": 56, "plan": 15, "exact": 40, "publish": 45, "publish/transport": 14, "shard": 23, "delta": 8,
	"distribute": 15, "interop": 15, "interop/clubcard": 15, "window": 20,
	"tablefilter": 10,
}

const mostTogether = 416

// TestListing compares the public names of each package with its listing in docs/api, so that every change is visible,
// and limits their number. After an intended change: go test ./internal/docs -run TestListing -update-api
func TestListing(t *testing.T) {
	atRoot(t)
	together := 0
	for _, dir := range public {
		lines := listing(t, dir)
		n := 0
		for _, l := range lines {
			if strings.HasPrefix(l, "func ") || strings.HasPrefix(l, "type ") {
				n++
			}
		}
		if together += n; n > most[dir] {
			t.Errorf("%s has %d functions, methods and types, at most %d", dir, n, most[dir])
		}
		name := strings.ReplaceAll(dir, "/", "-")
		if dir == "." {
			name = "bloomery"
		}
		path, text := filepath.Join("docs", "api", name+".txt"), strings.Join(lines, "\n")+"\n"
		if *updateListing {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			if !strings.Contains(string(want), l+"\n") {
				t.Errorf("%s is not in %s", l, path)
			}
		}
		if string(want) != text {
			t.Errorf("%s differs: a name is gone or was changed; run with -update-api", path)
		}
	}
	t.Logf("%d functions, methods and types", together)
	if together > mostTogether {
		t.Errorf("%d functions, methods and types, at most %d", together, mostTogether)
	}
}

// listing returns a line for each public declaration of a package, sorted: functions, methods and types, fields of
// structs, constants and variables.
func listing(t *testing.T, dir string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	text := func(n any) string {
		var b bytes.Buffer
		if err := printer.Fprint(&b, set, n); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	for _, p := range files {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, p, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
					d.Body, d.Doc = nil, nil
					lines = append(lines, text(d))
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					lines = append(lines, listed(d.Tok, s, text)...)
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// listed returns the lines of a declaration of types, constants or variables.
func listed(tok token.Token, s ast.Spec, text func(any) string) (lines []string) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				lines = append(lines, fmt.Sprint(tok, " ", name.Name))
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return nil
		}
		fields, ok := s.Type.(*ast.StructType)
		if !ok {
			return []string{"type " + text(s)}
		}
		head := s.Name.Name
		if s.TypeParams != nil {
			var all []string
			for _, p := range s.TypeParams.List {
				all = append(all, p.Names[0].Name+" "+text(p.Type))
			}
			head += "[" + strings.Join(all, ", ") + "]"
		}
		lines = append(lines, "type "+head+" struct")
		for _, f := range fields.Fields.List {
			if len(f.Names) == 0 {
				lines = append(lines, fmt.Sprintf("field %s embeds %s", s.Name.Name, text(f.Type)))
			}
			for _, name := range f.Names {
				if name.IsExported() {
					lines = append(lines, fmt.Sprintf("field %s.%s %s", s.Name.Name, name.Name, text(f.Type)))
				}
			}
		}
	}
	return lines
}
