package rankindexed

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDocumented computes the example of docs/format/rankindexed.md.
func TestDocumented(t *testing.T) {
	f, err := newFilter(Geometry{
		Capacity: 10, Buckets: 2, Chains: 8, Cells: [levels]int{4, 3}, Pools: [levels]uint64{0, 1}, Growth: 1,
		Remainder: 6, ValueBits: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	hasher := filter.NewHasher(0)
	for i, key := range []string{"a", "b", "c", "d", "e", "f", "g", "a"} {
		value := uint64(i + 1)
		if i == 7 {
			value = 15
		}
		if err := f.AddValue(hasher.SumString(key), value); err != nil {
			t.Fatal(err)
		}
	}
	e, trimmed := f.Encode(), f.Trimmed().(Trimmed).Encode()
	if len(e.Sections[2]) != 0 {
		t.Error("section 3 has words")
	}
	want := []string{
		"\n    " + e.Spec.String() + "\n", fmt.Sprintf("The header has %d keys", e.Keys),
		"\n" + filtertest.DocumentedWords(e.Sections[0]), "\n" + filtertest.DocumentedWords(e.Sections[1]),
		fmt.Sprintf("with `trimmed=%d`", f.used), "\n" + filtertest.DocumentedWords(trimmed.Sections[0]),
	}
	cell := func(u *bucket, c uint64) string {
		if c >= u.usedCells() {
			return "free"
		}
		return fmt.Sprintf("%d, %d", u.cellValue(c)>>4, u.cellValue(c)&15)
	}
	first, second := f.bucket(0), f.bucket(1)
	for c := range uint64(4) {
		name, at := fmt.Sprintf("cell %d", c), first.parts[0].cells+11*c
		if c == 0 {
			name += ": remainder, value"
		}
		want = append(want,
			fmt.Sprintf("\n| %s | %d to %d | %s | %s |\n", name, at, at+10, cell(&first, c), cell(&second, c)))
	}
	want = append(want, fmt.Sprintf("remainder %s", strings.Replace(cell(&first, 4), ",", ", value", 1)))
	for _, key := range []string{"a", "b", "d", "g", "i", "j"} {
		want = append(want, documentedKey(f, key, hasher.SumString(key)))
	}
	if err := f.Grow(); err != nil {
		t.Fatal(err)
	}
	a, _, r := f.walk.Locate(hasher.SumString("a").Hi, hasher.SumString("a").Lo)
	want = append(want, fmt.Sprintf("`a` has bucket mulhi(Hi, 4) = %d and still remainder %d", a, r))
	b, _, r := f.walk.Locate(hasher.SumString("b").Hi, hasher.SumString("b").Lo)
	want = append(want, fmt.Sprintf("has bucket %d and remainder 110 - 64 = %d.", b, r))
	filtertest.Documented(t, "rankindexed.md", want...)
}

// documentedKey returns the row of a key. It computes the place of the key as the page describes it.
func documentedKey(f *Filter, key string, h filter.Hash) string {
	bucket, top := bits.Mul64(h.Hi, 2)
	chain, low := bits.Mul64(h.Lo, 8)
	remainder := top>>63<<6 | low>>58
	u := f.bucket(bucket)
	var cells []string
	for at := chain; u.indexBit(at); {
		c := u.rankOf(at)
		cells = append(cells, fmt.Sprint(c))
		if u.cellValue(c)>>4 > remainder {
			break
		}
		at = 8 + c
	}
	list, get := "none", "absent"
	if len(cells) > 0 {
		list = strings.Join(cells, ", ")
	}
	if value, ok := f.Get(h); ok {
		get = fmt.Sprint(value)
	}
	n, _ := f.Count(h)
	return fmt.Sprintf("\n| `%s` | %016x | %016x | %d | %d | %d | %s | %s | %d |\n", key, h.Hi, h.Lo, bucket, chain,
		remainder, list, get, n)
}
