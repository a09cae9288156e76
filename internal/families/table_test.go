package families

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of parameters into the package comment of filter")

// table returns the families and their parameters as lines of a doc comment.
func table() string {
	var b strings.Builder
	line := func(name, help string) {
		for help != "" {
			end := len(help)
			if end > 76 {
				end = strings.LastIndexByte(help[:76], ' ')
			}
			fmt.Fprintf(&b, "//\t%-32s  %s\n", name, help[:end])
			name, help = "", strings.TrimSpace(help[end:])
		}
	}
	for _, f := range list() {
		line(f.Name, f.Summary)
		for _, p := range f.Parameters {
			line("    "+p.Name+"="+p.Value, p.Help)
		}
	}
	return b.String()
}

// TestTable: the package comment of filter has the parameters of every family. With -update it is written.
func TestTable(t *testing.T) {
	const path, before, after = "../../filter/doc.go", "// and these parameters:\n//\n", "package filter\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), before)
	if !ok || !strings.HasSuffix(rest, after) {
		t.Fatalf("%s has no %q", path, before)
	}
	want := head + before + table() + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatal("the table of parameters is not that of the list: go test ./internal/families -run TestTable -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
		t.Error(err)
	}
}
