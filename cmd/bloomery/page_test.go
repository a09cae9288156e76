package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPageFilter runs the command that js/example/NOTICE prints. It must write the bytes of the filter of that page.
func TestPageFilter(t *testing.T) {
	page := filepath.Join("..", "..", "js", "example")
	notice, err := os.ReadFile(filepath.Join(page, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^ +bloomery (build .*)$`).FindSubmatch(notice)
	if line == nil {
		t.Fatal("NOTICE has no line with bloomery build")
	}
	want, err := os.ReadFile(filepath.Join(page, "disposable.bloom"))
	if err != nil {
		t.Fatal(err)
	}
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
	got, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("bloomery %s wrote %d bytes that differ from the %d of %s", line[1], len(got), len(want), page)
	}
}
