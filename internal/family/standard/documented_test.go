package standard

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/probe"
)

// TestDocumented computes the example of docs/format/standard.md.
func TestDocumented(t *testing.T) {
	f := made(t, Config{Bits: 400, K: 7})
	hasher := filter.NewHasher(42)
	for _, h := range filtertest.DocumentedKeys(hasher) {
		if err := f.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"`" + f.spec().String() + "`", filtertest.DocumentedWords(f.words)}
	for _, key := range []string{"key-7", "key-40"} {
		h := hasher.SumString(key)
		var at []uint64
		first := -1 // probe whose bit is 0
		x, by := h.Lo, h.Hi
		for i := range f.k {
			p := probe.Position(x, f.m)
			if f.words[p/64]>>(p%64)&1 == 0 && first < 0 {
				first = i
			}
			at = append(at, p)
			x = probe.Next(x, by)
		}
		answer := "yes"
		if !f.Has(h) {
			answer = "no"
			want = append(want, fmt.Sprintf("The first bit of `%s` that is 0 is %d.", key, at[first]))
		}
		want = append(want, fmt.Sprintf("\n| `%s` | %016x | %016x | %s | %s |\n", key, h.Hi, h.Lo,
			filtertest.DocumentedList(at), answer))
	}
	filtertest.Documented(t, "standard.md", want...)
}
