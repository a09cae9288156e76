package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// manMacros maps each macro of man(7) and roff(7) that the pages use to a pattern of its arguments.
var manMacros = map[string]*regexp.Regexp{
	".TH": regexp.MustCompile(`^\S+ 1 "" "[^"]+" ""$`), ".SH": regexp.MustCompile(`^[A-Z ]+$`),
	".B": regexp.MustCompile(`^\S`), ".BR": regexp.MustCompile(`^\S+ \(1\)$`),
	".PP": regexp.MustCompile(`^$`), ".TP": regexp.MustCompile(`^$`), ".sp": regexp.MustCompile(`^$`),
	".nf": regexp.MustCompile(`^$`), ".fi": regexp.MustCompile(`^$`),
}

var manFolder = flag.String("man", "", "write the manual pages to this `folder`: a release has them")

// TestManPages checks the markup of all manual pages. Every line that begins like a macro must be in manMacros, every
// backslash must begin an escape that function roff writes, and .nf and .fi must alternate. No text may be a macro by
// accident.
func TestManPages(t *testing.T) {
	dir := *manFolder
	if dir == "" {
		dir = t.TempDir()
	}
	must(t, writePages((&app{}).rootCommand(), dir))
	must(t, writeTopics(topics, dir))

	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for name, want := range map[string]string{ // a command, a flag, and a word that is not Markdown
		"bloomery": "\n.BR bloomery\\-build (1)\n", "bloomery-build": "\n.B \\-o, \\-\\-output ", "bloomery-put": "<TAB>",
		"bloomery-help-specs": "\n  rankindexed",
	} {
		if text, err := os.ReadFile(filepath.Join(dir, name+".1")); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: no %q, %v", name, want, err)
		}
	}

	for name, want := range map[string]string{
		"bloomery": "bloomery COMMAND", "bloomery-build": "bloomery build \\-o FILE [INPUT...]",
		"bloomery-exact":      "bloomery exact COMMAND",
		"bloomery-shard-plan": "bloomery shard plan \\-o DIR \\-\\-shards N INPUT...",
	} {
		text := string(mustRead(t, filepath.Join(dir, name+".1")))
		if !strings.Contains(text, "\n.SH SYNOPSIS\n.nf\n"+want+"\n.fi\n") {
			t.Errorf("%s: the synopsis is not %q", name, want)
		}
	}

	escape := regexp.MustCompile(`\\([-e]|&[.'])`)
	for _, path := range pages {
		text := mustRead(t, path)
		kept := false // true between .nf and .fi, where lines are not filled
		for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			bad := func(why string) { t.Errorf("%s:%d: %s: %q", filepath.Base(path), i+1, why, line) }
			if strings.Contains(escape.ReplaceAllString(line, ""), `\`) {
				bad("a backslash begins no known escape")
			}
			if !strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "'") {
				if line == "" {
					bad("an empty line; roff has .PP and .sp")
				}
				continue
			}
			macro, rest, _ := strings.Cut(line, " ")
			if m := manMacros[macro]; m == nil || !m.MatchString(rest) {
				bad("no known macro, or not with this text")
			}
			if macro == ".nf" || macro == ".fi" {
				if kept == (macro == ".nf") {
					bad("out of turn")
				}
				kept = !kept
			}
		}
		if kept {
			t.Errorf("%s: .nf without .fi", filepath.Base(path))
		}
	}
}
