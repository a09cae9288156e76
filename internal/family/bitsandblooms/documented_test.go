package bitsandblooms

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/sums"
)

// TestDocumented computes the example of docs/format/bitsandblooms.md.
func TestDocumented(t *testing.T) {
	f, err := New(Config{M: 400, K: 7})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := f.AddKey(fmt.Appendf(nil, "key-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"`" + f.spec().String() + "`", filtertest.DocumentedWords(f.words)}
	for _, key := range []string{"key-7", "key-40"} {
		q := sums.Murmur3Quarters([]byte(key))
		var at []uint64
		has := true
		for i := range uint64(f.k) {
			sum := [4]uint64{q[0] + i*q[2], q[1] + i*q[3], q[0] + i*q[3], q[1] + i*q[2]}[i%4]
			p := sum % f.m
			has = has && f.words[p/64]>>(p%64)&1 == 1
			at = append(at, p)
		}
		if has != f.HasKey([]byte(key)) {
			t.Errorf("key %s is present: %v", key, !has)
		}
		want = append(want,
			fmt.Sprintf("\n| `%s` | %016x | %016x | %016x | %016x |\n", key, q[0], q[1], q[2], q[3]),
			fmt.Sprintf("\n| `%s` | %s | %s |\n", key, filtertest.DocumentedList(at),
				map[bool]string{false: "no", true: "yes"}[has]))
	}
	filtertest.Documented(t, "bitsandblooms.md", want...)
}
