package mavenjars

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// imitate puts a script named mvn first in PATH.
func imitate(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the imitation of Maven is a shell script")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mvn"), []byte("#!/bin/sh\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestLoad checks that jars are downloaded once, and that no files remain if Maven fails.
func TestLoad(t *testing.T) {
	top := filepath.Join(t.TempDir(), "jars")
	t.Setenv(Variable, top)
	imitate(t, `echo no such jar; mkdir "$(dirname "$4")/jars"; exit 1`)
	notes := 0
	note := func(string) { notes++ }
	_, err := Load(t.Context(), "one", []byte("project"), note)
	if err == nil || !strings.Contains(err.Error(), "no such jar") {
		t.Errorf("Maven failed: %v", err)
	}
	if left, err := os.ReadDir(top); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	imitate(t, `d=$(dirname "$4") && mkdir "$d/jars" && cp "$4" "$d/jars/a.jar"`)
	for _, project := range []string{"project", "is not read"} {
		dir, err := Load(t.Context(), "one", []byte(project), note)
		if err != nil || dir != filepath.Join(top, "one") {
			t.Fatalf("%q, %v", dir, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "a.jar")); err != nil || string(b) != "project" {
			t.Errorf("%q, %v", b, err)
		}
	}
	if left, err := os.ReadDir(top); err != nil || len(left) != 1 || notes != 2 {
		t.Errorf("left behind: %v, %v; %d notes", left, err, notes)
	}
}

// TestLacking checks that the message names the tools that are missing or too old.
func TestLacking(t *testing.T) {
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	if got := Lacking("a server", 17, 0); got != "a server needs Java 17 and Maven; there is no java in PATH" {
		t.Error(got)
	}
	for text, want := range map[string]int{
		`openjdk version "17.0.15" 2025-04-15`: 17, `java version "1.8.0_392"`: 8, `openjdk version "25" 2025`: 25, "": 0,
	} {
		if got := release(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
