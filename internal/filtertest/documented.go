package filtertest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// The pages of docs/format have examples: the filter of the 40 keys key-0 to key-39, hashed by XXH3 with seed 42. The
// tests of the families compute them again.

// DocumentedKeys returns the hashes of the keys of the examples.
func DocumentedKeys(h filter.Hasher) (hs []filter.Hash) {
	for i := range 40 {
		hs = append(hs, h.SumString(fmt.Sprintf("key-%d", i)))
	}
	return hs
}

// DocumentedWords returns words as the pages print them: lines of four, after the number of the first one.
func DocumentedWords(words []uint64) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i%4 > 0:
			b.WriteByte(' ')
		case i > 0:
			b.WriteByte('\n')
		}
		if i%4 == 0 {
			fmt.Fprintf(&b, "%3d  ", i)
		}
		fmt.Fprintf(&b, "%016x", w)
	}
	return b.String() + "\n"
}

// DocumentedList returns numbers as the pages print them: 17, 93, 4.
func DocumentedList(numbers []uint64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}

// Documented fails the test unless a page of docs/format has each of the texts. Tests of the packages below
// internal/family call it.
func Documented(t *testing.T, page string, texts ...string) {
	t.Helper()
	content, err := os.ReadFile("../../../docs/format/" + page)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if !strings.Contains(string(content), text) {
			t.Errorf("docs/format/%s lacks:\n%s", page, text)
		}
	}
}
