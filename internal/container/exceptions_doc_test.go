package container

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDocumentedExceptions computes the example of docs/format/exceptions.md.
func TestDocumentedExceptions(t *testing.T) {
	f, err := ReadFile("testdata/standard-0-exceptions.bloom", Options{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("../../docs/format/exceptions.md")
	if err != nil {
		t.Fatal(err)
	}
	p, words := newPlain(t, f.Encoded), f.Exceptions
	want := []string{"\n" + filtertest.DocumentedWords(words)}
	hasher, seen := filter.NewHasher(f.Seed), 0
	for i := range words[1] {
		key := fmt.Sprintf("allowed-%d", i)
		h := hasher.SumString(key)
		if seen < 2 && allBits(p, standardBits(p, nil, h)).has {
			want = append(want, documentedWalk(words, key, h))
			seen++
		}
	}
	want = append(want, documentedWalk(words, "key-7", hasher.SumString("key-7")))
	for _, text := range want {
		if !strings.Contains(string(content), text) {
			t.Errorf("docs/format/exceptions.md lacks:\n%s", text)
		}
	}
}

// documentedWalk returns the row of a key: the bits that a query looks at, by level, and whether the key is present.
func documentedWalk(words []uint64, key string, h filter.Hash) string {
	levels, start := words[0], 3+words[0]
	var walks []string
	for i := uint64(1); i <= levels; i++ {
		length, probes := words[2+i]&(1<<56-1), words[2+i]>>56
		var walk []string
		in := true
		for j := uint64(0); j < probes && in; j++ {
			x := foldProduct(foldProduct(h.Lo^(256*(i+2)+j), h.Hi^0x9E3779B185EBCA87), 0x9E3779B185EBCA87)
			at := part(x, 64*length)
			in = words[start+at/64]>>(at%64)&1 == 1
			walk = append(walk, fmt.Sprint(at))
		}
		walks = append(walks, strings.Join(walk, ", "))
		if !in {
			break
		}
		start += length
	}
	present := map[bool]string{true: "no", false: "yes"}[excepts(words, h)]
	return fmt.Sprintf("\n| `%s` | %016x | %016x | %s | %s |\n", key, h.Hi, h.Lo, strings.Join(walks, "; "), present)
}
