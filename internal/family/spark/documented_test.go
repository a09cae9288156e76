package spark

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDocumented computes the examples of docs/format/spark.md.
func TestDocumented(t *testing.T) {
	hasher, err := filter.ForeignHasher(filter.Murmur3x86)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []Version{V1, V2} {
		f, err := New(Config{Words: 7, K: 7, Version: v})
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
			for i := range uint64(7) {
				c := (h.Lo + (i+1)*(h.Lo>>32)) % (1 << 32)
				if c >= 1<<31 {
					c = 1<<32 - 1 - c
				}
				if v == V2 {
					sum := (1<<31-1)*int64(int32(h.Lo)) + int64(i+1)*int64(int32(h.Lo>>32))
					c = uint64(max(sum, -1-sum))
				}
				at = append(at, c%448)
			}
			has := true
			for _, p := range at {
				has = has && f.words[p/64]>>(p%64)&1 == 1
			}
			if has != f.Has(h) {
				t.Errorf("%s: key %s is present: %v", f.spec(), key, f.Has(h))
			}
			want = append(want, fmt.Sprintf("\n| `%s` | %016x | %016x | %s | %s |\n", key, h.Hi, h.Lo,
				filtertest.DocumentedList(at), map[bool]string{false: "no", true: "yes"}[has]))
		}
		filtertest.Documented(t, "spark.md", want...)
	}
}
