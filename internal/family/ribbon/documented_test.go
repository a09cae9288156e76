package ribbon

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDocumented computes the examples of docs/format/ribbon.md.
func TestDocumented(t *testing.T) {
	hasher := filter.NewHasher(42)
	answer := map[bool]string{false: "no", true: "yes"}
	f := build(t, "ribbon(r=10)", filtertest.DocumentedKeys(hasher))
	want := []string{"`" + f.spec().String() + "`", filtertest.DocumentedWords(f.tail)}
	for _, name := range []string{"key-7", "key-40", "key-41"} {
		h := hasher.SumString(name)
		k := keyOf(h, 0)
		result, columns := f.columns(h, 0)
		print := k.print() & (1<<columns - 1)
		want = append(want, fmt.Sprintf("| `%s` | %016x | %010x | %03x | %03x | %s |\n", name, k.x,
			k.tailWord(f.tailSeed, 0)&(1<<f.slots-1), result, print, answer[result == print]))
	}

	var hs []filter.Hash
	for i := range 900 {
		hs = append(hs, hasher.SumString(fmt.Sprintf("key-%d", i)))
	}
	f = build(t, "ribbon(r=4)", hs)
	l := &f.layers[0]
	want = append(want, "`"+f.spec().String()+"`", filtertest.DocumentedWords(f.classes))
	for _, name := range []string{"key-7", "key-13", "key-1000", "key-1001"} {
		h := hasher.SumString(name)
		k := keyOf(h, 0)
		start := l.start(k.hi)
		class := f.class(start / 32)
		result, columns := f.columns(h, 0)
		print := k.print() & (1<<columns - 1)
		c, _ := l.coefficients(k)
		at := fmt.Sprintf("%d, %d", start/64, start%64)
		words := fmt.Sprintf("%016x", c)
		if start%32 < l.limits[class] {
			at, words = "tail", "-"
		}
		want = append(want, fmt.Sprintf("| `%s` | %d | %d | %d | %s | %s | %x | %x | %s |\n", name, start, class,
			l.limits[class], at, words, result, print, answer[result == print]))
	}
	k := keyOf(hasher.SumString("key-1001"), 0)
	block := l.start(k.hi) / 64
	want = append(want, fmt.Sprintf("word %d", 4*block), filtertest.DocumentedWords(f.words[4*block:4*block+8]))
	filtertest.Documented(t, "ribbon.md", want...)
}
