//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pageTools are the programs that the pages run, in addition to exampleTools.
var pageTools = []string{"awk", "cmp", "cut", "diff", "head", "mv", "printf", "seq", "sort", "tail", "tr", "wc"}

// pageSetup makes the files that a page takes from another system.
var pageSetup = map[string]string{
	"docs/guides/interop.md": "bloomery build -o t --spec redisbloom log.txt && bloomery convert t -o seen.redis && cp keys.txt more.txt",
}

// pageBlock is a block of commands in a page: a script that must succeed, or a session with prompts and output.
var pageBlock = regexp.MustCompile("(?ms)^```(sh|console)\n(.*?)^```$")

// TestPages runs the commands of README.md and of docs, each page in its own folder with the inputs of the examples and
// the lists of the demo. Only blocks of the languages sh and console are run.
func TestPages(t *testing.T) {
	bin := exampleBin(t)
	for _, name := range pageTools {
		path, err := exec.LookPath(name)
		must(t, err)
		must(t, os.Symlink(path, filepath.Join(bin, name)))
	}

	pages := []string{"../../README.md"}
	for _, folder := range []string{"guides", "reference", "families"} {
		found, err := filepath.Glob("../../docs/" + folder + "/*.md")
		must(t, err)
		pages = append(pages, found...)
	}
	for _, page := range pages {
		text := string(mustRead(t, page))
		blocks := pageBlock.FindAllStringSubmatch(text, -1)
		page = strings.TrimPrefix(page, "../../")
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range exampleInputs {
				mustWrite(t, filepath.Join(dir, name), content(t))
			}
			for _, place := range []string{".", "cmd/bloomery/domains"} {
				must(t, os.MkdirAll(filepath.Join(dir, place), 0o777))
				for _, name := range []string{"disposable.txt.gz", "ordinary.txt.gz"} {
					mustWrite(t, filepath.Join(dir, place, name), mustRead(t, filepath.Join("domains", name)))
				}
			}

			if setup := pageSetup[page]; setup != "" {
				runPage(t, bin, dir, setup, "")
			}
			for _, block := range blocks {
				if block[1] == "sh" {
					runPage(t, bin, dir, block[2], "")
					continue
				}
				for _, part := range strings.Split("\n"+block[2], "\n$ ")[1:] {
					line, output, _ := strings.Cut(part, "\n")
					runPage(t, bin, dir, line, output)
				}
			}
		})
	}
}

// Parts of an output that differ from run to run.
var (
	pageTime = regexp.MustCompile(`\d+(\.\d+)? s\b`)
	pageDate = regexp.MustCompile(`\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d UTC)?`)
)

// masked returns a line without times and dates, and without the spaces at its end.
func masked(line string) string {
	return strings.TrimRight(pageDate.ReplaceAllString(pageTime.ReplaceAllString(line, "T s"), "DATE"), " ")
}

// runPage runs the lines of a block. Its output must have the lines that the page shows, in their order; it may have
// others between them, which the line "..." marks. A line that shows an error belongs to a command that fails.
func runPage(t *testing.T, bin, dir, lines, shown string) {
	out, err := runLine(t, bin, dir, "set -e\n"+lines, 0)
	if err != nil && !strings.Contains(shown, "bloomery: ") {
		t.Errorf("%s: %v\n%s", lines, err, out)
		return
	}

	rest := strings.Split(out, "\n")
	for line := range strings.Lines(shown) {
		if line == "...\n" {
			continue
		}
		want, at := masked(strings.TrimSuffix(line, "\n")), 0
		for at < len(rest) && masked(rest[at]) != want {
			at++
		}
		if at == len(rest) {
			t.Errorf("%s: the page shows\n%s\nbut the output is\n%s", lines, line, out)
			return
		}
		rest = rest[at+1:]
	}
}
