package container

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// excepts reports whether a section of exceptions makes a key absent that the filter contains. It reads the section as
// docs/format/exceptions.md describes it and calls no code of package except.
func excepts(words []uint64, h filter.Hash) bool {
	if words == nil {
		return false
	}
	levels := words[0]
	start := 3 + levels // first word of a level
	for i := uint64(1); i <= levels; i++ {
		length, probes := words[2+i]&(1<<56-1), words[2+i]>>56
		for j := range probes {
			x := foldProduct(foldProduct(h.Lo^(256*(i+2)+j), h.Hi^0x9E3779B185EBCA87), 0x9E3779B185EBCA87)
			if at := part(x, 64*length); words[start+at/64]>>(at%64)&1 == 0 {
				return i%2 == 0
			}
		}
		start += length
	}
	return levels%2 == 1
}

// exceptedKeys returns up to 10 allowed keys of a golden file that are exceptions, and up to two others.
func exceptedKeys(t *testing.T, path string) (keys []filtertest.VectorKey) {
	got, err := readFilterFile(path, reading{Secret: &secret})
	if err != nil {
		t.Fatal(err)
	}
	f := got.Filter.(*except.Filter)
	main, c := f.Main(), f.Cascade()
	others := 0
	for i := range c.Allowed() {
		name := fmt.Sprintf("allowed-%d", i)
		if h := got.Hasher.SumString(name); main.Has(h) && !c.Has(h) && len(keys)-others < 10 {
			keys = append(keys, filtertest.TextKey(name))
		} else if !main.Has(h) && others < 2 {
			keys = append(keys, filtertest.TextKey(name))
			others++
		}
	}
	return keys
}

// TestGoldenExceptions fails if the golden files with exceptions contain too few exceptions to test anything.
func TestGoldenExceptions(t *testing.T) {
	seen := 0
	for _, s := range withExceptions(t) {
		c := exceptions(s.filter)
		seen++
		t.Logf("%s: %d allowed, %d exceptions, levels %v", s.name, c.Allowed(), c.Exceptions(), c.Sizes())
		if c.Allowed() != uint64(s.listed) || (s.listed > 1) != (c.Exceptions() > 1) {
			t.Errorf("%s: %d exceptions of %d keys", s.name, c.Exceptions(), s.listed)
		}
	}
	if seen != len(exceptionCases) {
		t.Errorf("%d samples of %d", seen, len(exceptionCases))
	}
}

// exceptionRefusals edits the section of exceptions.
func exceptionRefusals(f forger) {
	le := binary.LittleEndian
	f = f.with("exceptions", "standard-0-exceptions.bloom")
	p := f.parts()
	last := len(p.sections) - 1
	word := func(i int) uint64 { return le.Uint64(p.sections[last][8*i:]) }
	levels := word(0)
	f.edit("unchanged", false, func([]byte) {})
	for _, n := range []uint64{0, levels - 1, levels + 1, 65, 1 << 32, 1<<32 + levels, 1 << 63, math.MaxUint64} {
		f.word("levels "+text(n), n != levels, last, 0, n)
	}
	for _, n := range []uint64{0, math.MaxUint64} { // these words are only reported
		f.word("keys in the list "+text(n), false, last, 1, n)
		f.word("exceptions "+text(n), false, last, 2, n)
	}
	first := word(3)
	length, shift := first&(1<<56-1), first>>56<<56
	lengths := []uint64{0, length - 1, length + 1, 1 << 32, 1<<32 + length, 1<<55 + 1, 1<<56 - 1}
	for _, n := range slices.Compact(lengths) { // length can be 1
		f.word("length of level 1 "+text(n), true, last, 3, shift|n)
	}
	for _, n := range []uint64{0, 1, 64, 65, 128, 255} {
		f.word("probes of level 1 "+text(n), n == 0 || n > 64, last, 3, n<<56|length)
	}
	f.bit("a bit of the first level", false, last, 64*(3+int(levels)))
	f.bit("the last bit of the last level", false, last, 8*len(p.sections[last])-1)
	section := func(name string, refused bool, change func(b []byte) []byte) {
		f.build(name, refused, func(p *forgery) { p.sections[last] = change(p.sections[last]) })
	}
	section("a word behind", true, func(b []byte) []byte { return append(b, make([]byte, 8)...) })
	section("a word less", true, func(b []byte) []byte { return b[:len(b)-8] })
	for n := range 4 {
		section(decimal(n)+" words", true, func(b []byte) []byte { return b[:8*n] })
	}
	section("no level, no exception", false, func([]byte) []byte { return levelsOf(0, 9, 0) })
	section("no level, an exception", false, func([]byte) []byte { return levelsOf(0, 9, 1) })
	section("a level without exceptions", false, func([]byte) []byte { return levelsOf(1, 9, 0) })
	section("1 level", false, func([]byte) []byte { return levelsOf(1, 9, 9) })
	section("64 levels", false, func([]byte) []byte { return levelsOf(64, 9, 1) })
	section("65 levels", true, func([]byte) []byte { return levelsOf(65, 9, 1) })
	f.build("the exceptions first", true, func(p *forgery) {
		p.sections[0], p.sections[1] = p.sections[1], p.sections[0]
	})
	f.build("two sections of exceptions", true, func(p *forgery) { p.sections = append(p.sections, p.sections[1]) })
	f.build("no section of the filter", true, func(p *forgery) { p.sections = p.sections[1:] })
	f.build("no exceptions", true, func(p *forgery) { p.sections = p.sections[:1] })
	foreign := func(name, path string) {
		f.with("exceptions", path).build(name, true, func(p *forgery) {
			p.head[15] = flagExceptions
			p.sections = append(p.sections, levelsOf(0, 0, 0))
		})
	}
	foreign("hash of another system", "blocked-parquet.bloom")
	foreign("filter of another system", "guava-0.bloom")
}

// levelsOf returns a section of levels of one word each that contain every key.
func levelsOf(levels, allowed, exceptions uint64) (b []byte) {
	le := binary.LittleEndian
	for _, v := range []uint64{levels, allowed, exceptions} {
		b = le.AppendUint64(b, v)
	}
	for range levels {
		b = le.AppendUint64(b, 1<<56|1)
	}
	for range levels {
		b = le.AppendUint64(b, math.MaxUint64)
	}
	return b
}

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

// documentedWalk returns the row of a key: the bits that a query reads, by level, and whether the key is present.
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
