package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Limits of the help: the words of all pages, the words of explanations, and the lines of the page of a command.
const (
	maxHelpWords = 9500
	maxTextWords = 3645
	maxPageLines = 60
	maxPageWidth = 80
)

// TestHelp reads the page of every command and topic. It checks the limits of words, lines and columns, and that no
// sentence of an explanation is repeated.
func TestHelp(t *testing.T) {
	show := func(args ...string) string {
		var out strings.Builder
		if code := run(t.Context(), args, strings.NewReader(""), &out, &out); code != exitOK {
			t.Fatalf("bloomery %v: exit code %d: %s", args, code, out.String())
		}
		return out.String()
	}

	pages, texts := map[string]string{}, map[string]string{}
	for path, c := range allCommands((&app{}).rootCommand()) {
		page := show(append(strings.Fields(path)[1:], "--help")...)
		if n := strings.Count(page, "\n"); n > maxPageLines {
			t.Errorf("%s --help has %d lines, at most %d", path, n, maxPageLines)
		}
		pages[path], texts[path] = page, c.Long
	}
	pages["bloomery help"] = show("help", "--help")
	for _, topic := range topics {
		name := "bloomery help " + topic.Name
		text, _, _ := strings.Cut(topic.Text(), "\nThe flags:\n") // rows of flags and parameters are not explanations
		pages[name], texts[name] = show("help", topic.Name), text
		if n := strings.Count(pages[name], "\n"); n > maxPageLines && topic.Name != "inputs" { // inputs lists flags, too
			t.Errorf("%s has %d lines, at most %d", name, n, maxPageLines)
		}
	}

	words, explaining := 0, 0
	for name, page := range pages {
		words += len(strings.Fields(page))
		for line := range strings.Lines(page) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > maxPageWidth {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
	for _, text := range texts {
		explaining += len(strings.Fields(text))
	}
	t.Logf("%d pages, %d words, %d of them explain", len(pages), words, explaining)
	if words > maxHelpWords || explaining > maxTextWords {
		t.Errorf("%d words of help, at most %d; %d of them explain, at most %d",
			words, maxHelpWords, explaining, maxTextWords)
	}

	sentence := regexp.MustCompile(`[^.:;]+[.:;](\s|$)`)
	owner := map[string]string{}
	for name, text := range texts {
		for _, s := range sentence.FindAllString(strings.Join(strings.Fields(text), " "), -1) {
			s = strings.TrimSpace(s)
			if len(strings.Fields(s)) < 5 {
				continue
			}
			if other := owner[s]; other != "" {
				t.Errorf("%s and %s both have: %s", other, name, s)
			}
			owner[s] = name
		}
	}
}
