package main

import (
	"bytes"
	"cmp"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPageFilter runs the command that js/example/NOTICE prints. The command must write the same bytes as the filter of
// that page.
func TestPageFilter(t *testing.T) {
	page := filepath.Join("..", "..", "js", "example")
	notice := mustRead(t, filepath.Join(page, "NOTICE"))
	line := regexp.MustCompile(`(?m)^ +bloomery (build .*)$`).FindSubmatch(notice)
	if line == nil {
		t.Fatal("NOTICE has no line with bloomery build")
	}
	want := mustRead(t, filepath.Join(page, "disposable.bloom"))
	input := filepath.Join("domains", "disposable.txt.gz")
	output := filepath.Join(t.TempDir(), "f")
	args := strings.Fields(string(line[1]))
	for i, name := range args {
		args[i] = cmp.Or(map[string]string{"disposable.txt.gz": input, "disposable.bloom": output}[name], name)
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(""), &stderr, &stderr); code != exitOK {
		t.Fatalf("bloomery %s: exit code %d: %s", args, code, stderr.Bytes())
	}
	got := mustRead(t, output)
	if !bytes.Equal(got, want) {
		t.Errorf("bloomery %s wrote %d bytes that differ from the %d of %s", line[1], len(got), len(want), page)
	}
}
