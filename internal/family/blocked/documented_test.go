package blocked

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/probe"
)

// TestDocumented computes the examples of docs/format/blocked.md, and holds the salts of docs/format.md to the kernel.
func TestDocumented(t *testing.T) {
	parquet, err := filter.ForeignHasher(filter.XXH64)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		config Config
		hasher filter.Hasher
	}{
		{Config{Blocks: 2, K: 9}, filter.NewHasher(42)},
		{Config{Blocks: 2, Layout: Split}, parquet},
	} {
		f := made(t, c.config)
		for _, h := range filtertest.DocumentedKeys(c.hasher) {
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"`" + f.spec().String() + "`", filtertest.DocumentedWords(f.words)}
		for _, key := range []string{"key-7", "key-40"} {
			h := c.hasher.SumString(key)
			b, _ := bits.Mul64(h.Hi, f.blocks)
			at := documentedSplit(b, h)
			if !f.split {
				at = documentedLine(b, h, f.k)
				want = append(want, fmt.Sprintf(" %016x for `%s`", probe.Remix(h.Lo, 1), key))
			}
			set := func(p uint64) bool { return f.words[p/64]>>(p%64)&1 == 1 }
			has := !slices.ContainsFunc(at, func(p uint64) bool { return !set(p) })
			if has != f.Has(h) {
				t.Errorf("%s: key %s is present: %v", f.spec(), key, f.Has(h))
			}
			want = append(want, fmt.Sprintf("\n| `%s` | %016x | %016x | %d | %s | %s |\n", key, h.Hi, h.Lo, b,
				filtertest.DocumentedList(at), map[bool]string{false: "no", true: "yes"}[has]))
		}
		filtertest.Documented(t, "blocked.md", want...)
	}
	salts := "|"
	for _, s := range kernel.SplitSalts {
		salts += fmt.Sprintf(" %08x |", s)
	}
	filtertest.Documented(t, "../format.md", "\n"+salts+"\n")
}

// documentedLine returns the positions of a key in a line as the page describes them.
func documentedLine(b uint64, h filter.Hash, k int) (at []uint64) {
	for i := range k {
		w := h.Lo
		if i >= 7 {
			w = probe.Remix(h.Lo, uint64(i/7))
		}
		y := bits.RotateLeft64(w, i%7*9)
		at = append(at, 512*b+y>>61*64+y%64)
	}
	return at
}

// documentedSplit returns the positions of a key in a split block as the page describes them.
func documentedSplit(b uint64, h filter.Hash) (at []uint64) {
	for i, salt := range kernel.SplitSalts {
		at = append(at, 256*b+32*uint64(i)+uint64(uint32(h.Lo)*salt>>27))
	}
	return at
}
