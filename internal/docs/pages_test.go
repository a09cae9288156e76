package docs_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/docs"
)

// TestArchitecture checks that every room, file and function that ARCHITECTURE.md names exists.
func TestArchitecture(t *testing.T) {
	atRoot(t)
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	files, declared := map[string]bool{}, map[string]bool{}
	method := regexp.MustCompile(`(?m)^func (?:\(\w* ?\*?(\w+)(?:\[\w+\])?\) )?([A-Z]\w*)\(`)
	member := regexp.MustCompile(`(?m)^\t([A-Z]\w*(?:, [A-Z]\w*)*)[ (]`)
	named := regexp.MustCompile(`(?m)^type ([A-Z]\w*)(?:\[.*\])? (?:struct|interface) \{\n((?:\t.*\n|\n)*)\}`)
	err = filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git") {
			return filepath.SkipDir
		}
		files[filepath.ToSlash(path)], files[e.Name()] = true, true
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		room := filepath.Base(filepath.Dir(path))
		for _, m := range method.FindAllSubmatch(b, -1) {
			declared[string(m[1])+"."+string(m[2])], declared[room+"."+string(m[2])] = true, true
		}
		for _, m := range named.FindAllSubmatch(b, -1) {
			declared[room+"."+string(m[1])] = true
			for _, f := range member.FindAllSubmatch(m[2], -1) {
				for _, name := range strings.Split(string(f[1]), ", ") {
					declared[string(m[1])+"."+name] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	if n := len(regexp.MustCompile(`[A-Za-z]\S*`).FindAllString(text, -1)); n > 1200 {
		t.Errorf("%d words; it is a map, and has at most 1200", n)
	}
	for _, name := range regexp.MustCompile(`[\w./-]+\.(?:go|md|txtar|mjs|h)\b`).FindAllString(text, -1) {
		if !files[name] {
			t.Errorf("there is no file %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`(?m)^[a-z]\S*`).FindAllString(between(text, "## Map\n\n```\n", "```"), -1) {
		if name != "bloomery" && !files[strings.TrimSuffix(name, "/*")] {
			t.Errorf("there is no room %s", name)
		}
	}
	// Type.Method, Type.Field, room.Function.
	for _, name := range regexp.MustCompile(`\b\w+\.[A-Z]\w+`).FindAllString(text, -1) {
		room, word, _ := strings.Cut(name, ".")
		if !declared[name] && !(room == "bloomery" && declared["."+word]) {
			t.Errorf("there is no %s", name)
		}
	}
}

// between returns the part of text between two marks.
func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

// TestThreats checks that every test and every file that docs/reference/threats.md names exists.
func TestThreats(t *testing.T) {
	atRoot(t)
	page, err := os.ReadFile("docs/reference/threats.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := 0
	word := regexp.MustCompile("`[a-z./-]+`|Test[A-Z][A-Za-z*]+")
	for line := range strings.Lines(string(page)) {
		room, declared := "", ""
		for _, w := range word.FindAllString(line, -1) {
			if w[0] == '`' {
				files, _ := filepath.Glob(filepath.Join(strings.Trim(w, "`"), "*_test.go"))
				if len(files) == 0 {
					continue // not a package
				}
				room, declared = w, ""
				for _, f := range files {
					b, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					declared += string(b)
				}
				continue
			}
			tests++
			name := strings.ReplaceAll(regexp.QuoteMeta(w), `\*`, `\w*`)
			if !regexp.MustCompile(`(?m)^func ` + name + `\(`).MatchString(declared) {
				t.Errorf("%s has no %s", room, w)
			}
		}
	}
	if tests < 80 {
		t.Errorf("%d tests are named", tests)
	}
	for _, f := range regexp.MustCompile("`[a-z/.-]+\\.(?:mjs|c)`").FindAllString(string(page), -1) {
		f = strings.Trim(f, "`")
		if !strings.Contains(f, "/") {
			f = "js/test/" + f
		}
		if _, err := os.Stat(f); err != nil {
			t.Error(err)
		}
	}
}

// TestExamples compiles the examples of README.md and docs.
func TestExamples(t *testing.T) {
	imports := map[string]string{"bloomery": module, "clubcard": module + "/interop/clubcard", "fs": "io/fs", "x509": "crypto/x509",
		"http": "net/http", "signal": "os/signal"}
	for _, p := range []string{
		"delta", "distribute", "exact", "filter", "interop", "plan", "publish", "shard", "window",
	} {
		imports[p] = module + "/" + p
	}
	for _, p := range []string{"context", "errors", "fmt", "io", "log", "os", "slices", "syscall", "time"} {
		imports[p] = p
	}
	pages := []string{"../../README.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	n := docs.CompileExamples(t, "../..", pages, `
var (
	ctx       = context.Background()
	blocklist []string
	keys      [][]byte
	answers   []bool
	domain    string
	url       string
	urls      chan string
	r         io.Reader
	w         io.Writer
	n         uint64
	data      []byte
	cert      *x509.Certificate
	issuer    *x509.Certificate
)
`, imports)
	if n < 6 {
		t.Errorf("%d examples", n)
	}
}

// TestComingFrom requires that the program of each library in docs/guides/coming-from.md makes the calls in its table.
func TestComingFrom(t *testing.T) {
	atRoot(t)
	page, err := os.ReadFile("docs/guides/coming-from.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted, word := regexp.MustCompile("`[^`]+`"), regexp.MustCompile(`\w+`)
	for heading, file := range map[string]string{
		"bits-and-blooms/bloom": "eval/bench/comingfrom/bitsandblooms.go", "rbloom": "python/bench/coming_from.py",
		"FastFilter/xorfilter":   "eval/bench/comingfrom/xorfilter.go",
		"seiflotfy/cuckoofilter": "eval/bench/comingfrom/cuckoofilter.go",
	} {
		program, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for _, w := range word.FindAllString(string(program), -1) {
			used[w] = true
		}

		calls := 0
		for line := range strings.Lines(between(string(page), "\n## "+heading+"\n", "\n## ")) {
			if !strings.HasPrefix(line, "| `") {
				continue
			}
			for _, call := range quoted.FindAllString(line, -1) {
				calls++
				for _, w := range word.FindAllString(call, -1) {
					if len(w) > 1 && !used[w] {
						t.Errorf("%s: %s has no %s", heading, file, w)
					}
				}
			}
		}
		if calls < 8 {
			t.Errorf("%s: %d calls", heading, calls)
		}
	}
}

// TestConfigPage requires that docs/reference/config.md names every field of Config and of the structs in it.
func TestConfigPage(t *testing.T) {
	atRoot(t)
	page, err := os.ReadFile("docs/reference/config.md")
	if err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadFile("docs/api/bloomery.txt")
	if err != nil {
		t.Fatal(err)
	}

	fields := regexp.MustCompile(`(?m)^field (?:Config|Like|Hashing|Sharding|Limits|Building)\.(\w+) `)
	found := fields.FindAllStringSubmatch(string(names), -1)
	for _, f := range found {
		if !strings.Contains(string(page), "`"+f[1]+"`") {
			t.Errorf("docs/reference/config.md does not name the field %s", f[1])
		}
	}
	if len(found) < 20 {
		t.Errorf("%d fields", len(found))
	}
}

// TestPackageComments limits the comment of each public package to 80 lines, so that the index of its page is near, and
// requires that each of its links leads to a name, a package or an address.
func TestPackageComments(t *testing.T) {
	atRoot(t)
	brackets, blocks := regexp.MustCompile(`\[[A-Za-z][\w./ -]*\]`), regexp.MustCompile(`(?s)<pre>.*?</pre>`)
	for _, dir := range public {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		set, files := token.NewFileSet(), []*ast.File(nil)
		for _, p := range paths {
			if strings.HasSuffix(p, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(set, p, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		room, err := doc.NewFromFiles(set, files, path.Join(module, dir))
		if err != nil {
			t.Fatal(err)
		}

		if n := strings.Count(room.Doc, "\n"); n == 0 || n > 80 {
			t.Errorf("the comment of package %s has %d lines, at most 80", room.Name, n)
		}
		if dir == "." && !strings.Contains(room.Synopsis(room.Doc), "Bloom filter") {
			t.Errorf("the first sentence of the root: %s", room.Synopsis(room.Doc))
		}

		// A link to nothing stays as text in brackets.
		prose := blocks.ReplaceAllString(string(room.HTML(room.Doc)), "")
		if text := brackets.FindString(prose); text != "" {
			t.Errorf("the comment of package %s has a link to nothing: %s", room.Name, text)
		}
	}
}
