package java

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// documented computes the examples of a family in docs/format. probe returns probe i of a key, from 0 on, before it is
// taken modulo the number of bits.
func documented(t *testing.T, kind *Kind, id filter.HashID, probe func(s Sums, h filter.Hash, i uint64) uint64) {
	hasher, err := filter.ForeignHasher(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Sums{Sum32, kind.Of} {
		f, err := New(Config{Kind: kind, Words: 7, K: 7, Sums: s})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range filtertest.DocumentedKeys(hasher) {
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"`" + f.spec().String() + "`", filtertest.DocumentedWords(f.words)}
		for _, key := range []string{"key-7", "key-40"} {
			h := hasher.SumString(key)
			var at []uint64
			has := true
			for i := range uint64(7) {
				p := probe(s, h, i) % 448
				at = append(at, p)
				has = has && f.words[p/64]>>(p%64)&1 == 1
			}
			if has != f.Has(h) {
				t.Errorf("%s: key %s is present: %v", f.spec(), key, f.Has(h))
			}
			want = append(want, fmt.Sprintf("\n| `%s` | %016x | %016x | %s | %s |\n", key, h.Hi, h.Lo,
				filtertest.DocumentedList(at), map[bool]string{false: "no", true: "yes"}[has]))
		}
		filtertest.Documented(t, kind.Family+".md", want...)
	}
}

// folded32 is probe i of Sum32, as the pages define it.
func folded32(h filter.Hash, i uint64) uint64 {
	c := (h.Lo + (i+1)*(h.Lo>>32)) % (1 << 32)
	if c >= 1<<31 {
		c = 1<<32 - 1 - c
	}
	return c
}
