package counting

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDocumented computes the examples of docs/format/counting.md.
func TestDocumented(t *testing.T) {
	f, err := New(Config{Counters: 100, K: 2})
	if err != nil {
		t.Fatal(err)
	}
	hasher := filter.NewHasher(42)
	for _, h := range filtertest.DocumentedKeys(hasher) {
		if err := f.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"`" + f.spec().String() + "`", filtertest.DocumentedWords(f.words),
		fmt.Sprintf("The sum of all counters is %d.", f.sum())}
	for _, key := range []string{"key-7", "key-41"} {
		var room [MaxK]uint64
		h := hasher.SumString(key)
		at := f.probes(&room, h)
		var counters []uint64
		for _, i := range at {
			counters = append(counters, f.counter(i))
		}
		n, _ := f.Count(h)
		want = append(want, fmt.Sprintf("\n| `%s` | %016x | %016x | %s | %s | %s | %d |\n", key, h.Hi, h.Lo,
			filtertest.DocumentedList(at), filtertest.DocumentedList(counters),
			map[bool]string{false: "no", true: "yes"}[f.Has(h)], n))
	}
	for _, c := range []struct {
		at, counters []uint64
		says         string
	}{
		{[]uint64{17, 93, 4, 60}, []uint64{3, 2, 2, 5}, ""},
		{[]uint64{17, 93, 17, 60}, []uint64{3, 2, 3, 5}, ": counter 17 has ⌊3/2⌋"},
		{[]uint64{17, 93, 17, 60}, []uint64{1, 2, 1, 5}, ", although the key is present"},
		{[]uint64{17, 93, 4, 60}, []uint64{15, 7, 15, 9}, ""},
		{[]uint64{17, 93, 4, 60}, []uint64{15, 15, 15, 15}, ", saturated"},
		{[]uint64{17, 93, 4, 60}, []uint64{15, 0, 15, 9}, ", the key is absent"},
	} {
		n, _ := counted(least(c.at, c.counters))
		want = append(want, fmt.Sprintf("\n| %s | %s | %d%s |\n", filtertest.DocumentedList(c.at),
			filtertest.DocumentedList(c.counters), n, c.says))
	}
	filtertest.Documented(t, "counting.md", want...)
}
