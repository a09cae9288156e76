package fuse

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDocumented computes the examples of docs/format/fuse.md.
func TestDocumented(t *testing.T) {
	hasher := filter.NewHasher(42)
	for _, width := range []uint{4, 13} {
		f := build(t, fmt.Sprintf("fuse(width=%d)", width), filtertest.DocumentedKeys(hasher))
		slot := func(i uint64) uint64 { return bitvec.Field(f.words, i*uint64(width), width) }
		want := []string{"`" + f.spec().String() + "`"}
		if width == 4 {
			want = append(want, fmt.Sprintf("%x, the lowest 4 bits of word 0", slot(0)),
				fmt.Sprintf("of word 1, is %x.", slot(17)))
		} else {
			want = append(want, fmt.Sprintf("in word 16: %04x.", slot(78)))
		}
		want = append(want, filtertest.DocumentedWords(f.words))
		for _, key := range []string{"key-7", "key-40", "key-41"} {
			h := hasher.SumString(key)
			h0, h1, h2, print := f.slots(h.Lo)
			print &= f.low
			xor := slot(h0) ^ slot(h1) ^ slot(h2)
			if (xor == print) != f.Has(h) {
				t.Errorf("width %d: key %s is present: %v", width, key, f.Has(h))
			}
			start := fmt.Sprintf("| `%s` | ", key)
			if width == 4 {
				start += fmt.Sprintf("%016x | %016x | ", h.Lo, f.mix(h.Lo))
			}
			digits := int(width+3) / 4
			const row = "\n%s%d, %d, %d, %0*x | %0*x, %0*x, %0*x | %0*x | %s |\n"
			want = append(want, fmt.Sprintf(row, start, h0, h1, h2,
				digits, print, digits, slot(h0), digits, slot(h1), digits, slot(h2), digits, xor,
				map[bool]string{false: "no", true: "yes"}[xor == print]))
		}
		filtertest.Documented(t, "fuse.md", want...)
	}
}
