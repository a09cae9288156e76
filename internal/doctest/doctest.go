// Package doctest compiles the Go examples of Markdown files, so that they do not name what is gone.
package doctest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Check compiles every block of Go in Markdown files as a part of the module in dir, with the go command. A block is a
// list of statements, in which err is returned; it may begin with imports. declare has the declarations of what all
// blocks use, imports the packages by name. It returns the number of blocks. Without a go command it skips the test.
func Check(t *testing.T, dir string, files []string, declare string, imports map[string]string) int {
	t.Helper()
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("SKIPPED: there is no go command, so that the examples of %v are not compiled: %v", files, err)
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	temp, n := t.TempDir(), 0
	replace := map[string]string{} // place in the module -> file
	add := func(name string, text []byte) {
		p := filepath.Join(temp, name)
		if err := os.WriteFile(p, text, 0o666); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(dir, "zz_examples", name)] = p
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range blocks(string(text)) {
			source, err := program(block, imports)
			if err != nil {
				t.Errorf("%s: example %d: %v", path, i+1, err)
				continue
			}
			n++
			add(fmt.Sprintf("b%d_%s.go", n, strings.TrimSuffix(filepath.Base(path), ".md")), source)
		}
	}
	source, err := program("", imports)
	if err == nil {
		source, err = withImports(string(source)+declare, imports)
	}
	if err != nil {
		t.Fatal(err)
	}
	add("declare.go", source)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), command, "build", "-overlay", list, "-gcflags=-e", "./zz_examples")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return n
}

// blocks returns the blocks of Go in a Markdown text.
func blocks(text string) (all []string) {
	for _, part := range strings.Split(text, "```go\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		all = append(all, block)
	}
	return all
}

// program returns the file of a block: a function that uses every variable that the block declares.
func program(block string, imports map[string]string) ([]byte, error) {
	head := ""
	if strings.HasPrefix(block, "import (") {
		head, block, _ = strings.Cut(block, "\n)\n")
		head += "\n)\n"
	}
	wrap := func(more string) string {
		return "package examples\n" + head + "func _() (err error) {\n" + block + more + "\nreturn err\n}\n"
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", wrap(""), 0)
	if err != nil {
		return nil, err
	}
	var used strings.Builder
	for _, s := range f.Decls[len(f.Decls)-1].(*ast.FuncDecl).Body.List {
		if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, x := range a.Lhs {
				if id := x.(*ast.Ident); id.Name != "_" {
					fmt.Fprintf(&used, "\n_ = %s", id.Name)
				}
			}
		}
	}
	return withImports(wrap(used.String()), imports)
}

// withImports adds the imports of the packages that a file names.
func withImports(text string, imports map[string]string) ([]byte, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, i := range f.Imports {
		has[strings.Trim(i.Path.Value, `"`)] = true
	}
	var list bytes.Buffer
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && imports[id.Name] != "" && !has[imports[id.Name]] {
				has[imports[id.Name]] = true
				fmt.Fprintf(&list, "import %q\n", imports[id.Name])
			}
		}
		return true
	})
	head, rest, _ := strings.Cut(text, "\n")
	return []byte(head + "\n" + list.String() + rest), nil
}
