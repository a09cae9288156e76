package filter

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/sums"
)

// documentedKey returns the key of n bytes of the vectors in docs/format/hashes.md.
func documentedKey(n int) []byte {
	key := make([]byte, n)
	for i := range key {
		key[i] = byte(i % 251)
	}
	return key
}

// TestDocumentedHashes compares the vectors of docs/format/hashes.md with the hash functions.
func TestDocumentedHashes(t *testing.T) {
	text, err := os.ReadFile("../docs/format/hashes.md")
	if err != nil {
		t.Fatal(err)
	}
	var secret Secret
	copy(secret[:], documentedKey(SecretSize))
	foreign := func(id HashID) Hasher {
		h, err := ForeignHasher(id)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	halves := func(hs ...Hash) (words []uint64) {
		for _, h := range hs {
			words = append(words, h.Hi, h.Lo)
		}
		return words
	}
	line := regexp.MustCompile(`(?m)^\| (\d+) \| ([0-9a-f| ]+) \|$`)
	rest := string(text)
	for _, section := range []struct {
		title string
		least int // vectors
		words func(key []byte) []uint64
	}{
		{"## XXH3-128\n", 25, func(key []byte) []uint64 {
			return halves(NewHasher(0).Sum(key), NewHasher(0x0123456789abcdef).Sum(key))
		}},
		{"## SipHash-2-4-128\n", 10, func(key []byte) []uint64 { return halves(NewKeyedHasher(secret).Sum(key)) }},
		{"### XXH64\n", 10, func(key []byte) []uint64 { return []uint64{foreign(XXH64).Sum(key).Lo} }},
		{"### MurmurHash3 x64 128\n", 9, func(key []byte) []uint64 {
			q, once, twice := sums.Murmur3Quarters(key), foreign(Murmur3).Sum(key), foreign(Murmur3Twice).Sum(key)
			if once != (Hash{Hi: q[1], Lo: q[0]}) || twice != (Hash{Hi: q[3], Lo: q[0]}) {
				t.Errorf("%d bytes: %x, %x and %x", len(key), q, once, twice)
			}
			return q[:]
		}},
		{"### MurmurHash64A\n", 7, func(key []byte) []uint64 { return halves(foreign(Murmur64A).Sum(key)) }},
		{"### MurmurHash3 x86 32\n", 12, func(key []byte) []uint64 { return []uint64{foreign(Murmur3x86).Sum(key).Lo} }},
		{"### FNV-1\n", 7, func(key []byte) []uint64 { return []uint64{foreign(FNV1).Sum(key).Lo} }},
		{"### Numbers\n", 3, func(key []byte) []uint64 { return []uint64{foreign(Uint64).Sum(key).Lo} }},
	} {
		_, after, ok := strings.Cut(rest, section.title)
		if !ok {
			t.Fatalf("no section %q", section.title)
		}
		rest = after
		own, _, _ := strings.Cut(after, "\n##")
		found := line.FindAllStringSubmatch(own, -1)
		if len(found) < section.least {
			t.Errorf("%q has %d vectors, want at least %d", section.title, len(found), section.least)
		}
		for _, f := range found {
			var n int
			if _, err := fmt.Sscan(f[1], &n); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, w := range section.words(documentedKey(n)) {
				want = append(want, fmt.Sprintf("%016x", w))
			}
			if want := strings.Join(want, " | "); f[2] != want {
				t.Errorf("%q, %d bytes: %s, want %s", section.title, n, f[2], want)
			}
		}
	}
	for _, part := range []string{
		fmt.Sprintf("following %d bytes", len(keyCheckLabel)), "    " + keyCheckLabel + "\n",
		fmt.Sprintf("it is %016x", NewKeyedHasher(secret).KeyCheck()),
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("docs/format/hashes.md lacks %q", part)
		}
	}
}
