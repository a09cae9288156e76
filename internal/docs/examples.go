// Package docs tests the documentation of the repository: the pages, the listings of public names, and the rules for
// rooms and imports. CompileExamples is for the tests of modules that have a README.md.
package docs

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// CompileExamples compiles every block of Go in Markdown files as a part of the module in dir, with the go command. A
// block is a list of statements that may return err; it may begin with imports. A block that begins with //go:embed or
// a type is a list of declarations. It leaves out whole programs, which begin with package: other tests run them.
// declare has the declarations that all blocks use, imports the packages by name. It returns
// the number of blocks. Without a go command it skips the test.
func CompileExamples(t *testing.T, dir string, files []string, declare string, imports map[string]string) int {
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
	write := func(name string, text []byte) string {
		p := filepath.Join(temp, name)
		if err := os.WriteFile(p, text, 0o666); err != nil {
			t.Fatal(err)
		}
		return p
	}
	replace := map[string]string{} // place in the module -> file
	add := func(name, text string) {
		replace[filepath.Join(dir, "zz_examples", name)] = write(name, withImports(t, text, imports))
	}
	add("declare.go", "package examples\n"+declare)
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "```go\n")[1:] {
			block, _, _ := strings.Cut(part, "```")
			if strings.HasPrefix(block, "package ") {
				continue
			}
			n++
			if name, ok := embedded(block); ok {
				replace[filepath.Join(dir, "zz_examples", name)] = write(name, nil)
			}
			add(fmt.Sprintf("b%d_%s.go", n, strings.TrimSuffix(filepath.Base(path), ".md")), program(t, block))
		}
	}

	// An overlay compiles the files as if they were in the module, and writes nothing there.
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := write("overlay.json", overlay)
	build := exec.CommandContext(t.Context(), command, "build", "-overlay", list, "-gcflags=-e", "./zz_examples")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return n
}

// beginsWithType matches a block that begins with a type, which may have a comment.
var beginsWithType = regexp.MustCompile(`^(//.*\n)*type `)

// embedded returns the file that a block of declarations embeds. ok is false for a block of statements.
func embedded(block string) (name string, ok bool) {
	line, _, _ := strings.Cut(block, "\n")
	return strings.CutPrefix(line, "//go:embed ")
}

// program returns the file of a block: the declarations of the block, or a function that uses every variable that the
// block declares.
func program(t *testing.T, block string) string {
	t.Helper()
	if _, ok := embedded(block); ok {
		return "package examples\nimport _ \"embed\"\n" + block
	}
	if beginsWithType.MatchString(block) {
		return "package examples\n" + block
	}

	head := ""
	if strings.HasPrefix(block, "import (") {
		head, block, _ = strings.Cut(block, "\n)\n")
		head += "\n)\n"
	}

	wrap := func(more string) string {
		return "package examples\n" + head + "func _() (err error) {\n" + block + more + "\nreturn err\n}\n"
	}

	declarations := parse(t, wrap("")).Decls
	var used strings.Builder
	for _, s := range declarations[len(declarations)-1].(*ast.FuncDecl).Body.List {
		if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, x := range a.Lhs {
				if id := x.(*ast.Ident); id.Name != "_" {
					fmt.Fprintf(&used, "\n_ = %s", id.Name)
				}
			}
		}
	}
	return wrap(used.String())
}

// withImports adds the imports of the packages that a file names.
func withImports(t *testing.T, text string, imports map[string]string) []byte {
	t.Helper()
	f := parse(t, text)
	has := map[string]bool{}
	for _, i := range f.Imports {
		has[strings.Trim(i.Path.Value, `"`)] = true
	}
	var list strings.Builder
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
	return []byte(head + "\n" + list.String() + rest)
}

// parse returns the syntax of a file. It ends the test if the file has an error.
func parse(t *testing.T, text string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
	if err != nil {
		t.Fatalf("%v in an example:\n%s", err, text)
	}
	return f
}
