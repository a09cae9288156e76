package java

import (
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestGuavaPositions compares both strategies with their definition in Guava, in the arithmetic of Java.
func TestGuavaPositions(t *testing.T) {
	const k = 9
	for _, words := range []uint64{1, 3, 150, 1 << 20} {
		bits := int64(64 * words)
		for s, positions := range map[Sums]func(h filter.Hash) []int64{
			Sum63: func(h filter.Hash) (all []int64) {
				sum := int64(h.Lo)
				for range k {
					all = append(all, sum&math.MaxInt64%bits)
					sum += int64(h.Hi)
				}
				return all
			},
			Sum32: func(h filter.Hash) (all []int64) {
				h1, h2 := int32(h.Lo), int32(h.Lo>>32)
				for i := int32(1); i <= k; i++ {
					c := h1 + i*h2
					if c < 0 {
						c = ^c
					}
					all = append(all, int64(c)%bits)
				}
				return all
			},
		} {
			f, err := New(Config{Kind: Guava, Words: words, K: k, Sums: s})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range append(filtertest.Hashes(2000, 1), filter.Hash{},
				filter.Hash{Lo: math.MaxUint64, Hi: math.MaxUint64}, filter.Hash{Lo: 1 << 31, Hi: 1 << 63}) {
				setsBits(t, f, h, positions(h))
			}
		}
	}
}

// TestGuavaSizes pins sizes: whole words, and at most bytes=.
func TestGuavaSizes(t *testing.T) {
	pinned(t, Guava, map[string]string{
		"guava(fpr=0.01)":      "guava(k=7,strategy=64,words=150)",
		"guava(bytes=800)":     "guava(k=4,strategy=64,words=100)",
		"guava(bytes=807)":     "guava(k=4,strategy=64,words=100)",
		"guava(bytes=1)":       "guava(k=1,strategy=64,words=1)",
		"guava(k=255,words=9)": "guava(k=255,strategy=64,words=9)",
		"guava(strategy=32)":   "guava(k=7,strategy=32,words=150)",
		"guava(capacity=2000)": "guava(k=7,strategy=64,words=300)",
		"guava(bytes=800,k=3)": "guava(k=3,strategy=64,words=100)",
		"guava(words=150)":     "guava(k=7,strategy=64,words=150)",
	})
}

// TestGuavaDocumented computes the examples of docs/format/guava.md.
func TestGuavaDocumented(t *testing.T) {
	documented(t, Guava, filter.Murmur3, func(s Sums, h filter.Hash, i uint64) uint64 {
		if s == Sum63 {
			return (h.Lo + i*h.Hi) % (1 << 63)
		}
		return folded32(h, i)
	})
}
