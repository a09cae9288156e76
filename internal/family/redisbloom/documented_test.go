package redisbloom

import (
	"fmt"
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDocumented computes the example of docs/format/redisbloom.md.
func TestDocumented(t *testing.T) {
	hasher, err := filter.ForeignHasher(filter.Murmur64A)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(Config{Keys: 40, Size: family.Sizing{BitsPerKey: 10}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddMany(filtertest.DocumentedKeys(hasher)); err != nil {
		t.Fatal(err)
	}
	built, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := built.(*Filter)
	l := f.links[0]
	want := []string{
		"`" + f.builtSpec().String() + "`", filtertest.DocumentedWords(f.headerWords()),
		fmt.Sprintf("%d keys, options %d, growth %d. Link 0: m = %d, %d keys, rate %.4g, b = %v, k = %d, capacity %d.",
			f.keyCount(), 5, f.growth, l.Bits, l.Keys, l.Rate, l.BitsPerKey, l.K, l.Capacity),
		filtertest.DocumentedWords(f.words), fmt.Sprintf("the bits %016x", math.Float64bits(ln2)),
	}
	for _, key := range []string{"key-7", "key-40"} {
		h := hasher.SumString(key)
		var at []uint64
		has := true
		for i := range uint64(l.K) {
			p := (h.Lo + i*h.Hi) % l.Bits
			at = append(at, p)
			has = has && f.words[p/64]>>(p%64)&1 == 1
		}
		if has != f.Has(h) {
			t.Errorf("key %s is present: %v", key, !has)
		}
		want = append(want, fmt.Sprintf("\n| `%s` | %016x | %016x | %s | %s |\n", key, h.Hi, h.Lo,
			filtertest.DocumentedList(at), map[bool]string{false: "no", true: "yes"}[has]))
	}
	filtertest.Documented(t, "redisbloom.md", want...)
}
