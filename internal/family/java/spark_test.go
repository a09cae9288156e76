package java

import (
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestSparkPositions compares both versions with their definition in Spark, in the arithmetic of Java.
func TestSparkPositions(t *testing.T) {
	const k = 9
	for _, words := range []uint64{1, 3, 150, 1 << 20, 1<<25 + 7} {
		if words > 1<<20 && testing.Short() {
			continue // 256 MiB
		}
		bits := int64(64 * words)
		for s, positions := range map[Sums]func(h filter.Hash) []int64{
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
			Sum64: func(h filter.Hash) (all []int64) {
				sum := int64(int32(h.Lo)) * math.MaxInt32
				for range k {
					sum += int64(int32(h.Lo >> 32))
					c := sum
					if c < 0 {
						c = ^c
					}
					all = append(all, c%bits)
				}
				return all
			},
		} {
			f, err := New(Config{Kind: Spark, Words: words, K: k, Sums: s})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range append(filtertest.Hashes(2000, 1), filter.Hash{}, filter.Hash{Lo: math.MaxUint64},
				filter.Hash{Lo: 1 << 31}, filter.Hash{Lo: 1 << 63}, filter.Hash{Lo: 1<<63 | 1<<31}) {
				setsBits(t, f, h, positions(h))
			}
		}
	}
}

// TestSparkSizes pins sizes: whole words, and at most bytes=.
func TestSparkSizes(t *testing.T) {
	pinned(t, Spark, map[string]string{
		"spark(fpr=0.01)":      "spark(k=7,version=1,words=150)",
		"spark(bytes=800)":     "spark(k=4,version=1,words=100)",
		"spark(bytes=807)":     "spark(k=4,version=1,words=100)",
		"spark(bytes=1)":       "spark(k=1,version=1,words=1)",
		"spark(k=255,words=9)": "spark(k=255,version=1,words=9)",
		"spark(version=2)":     "spark(k=7,version=2,words=151)", // 150 words repeat probes more often,
		"spark(capacity=2000)": "spark(k=7,version=1,words=300)",
		"spark(bytes=800,k=3)": "spark(k=3,version=1,words=100)",
		"spark(words=150)":     "spark(k=7,version=1,words=150)",
	})
}

// TestSparkDocumented computes the examples of docs/format/spark.md.
func TestSparkDocumented(t *testing.T) {
	documented(t, Spark, filter.Murmur3x86, func(s Sums, h filter.Hash, i uint64) uint64 {
		if s == Sum64 {
			sum := (1<<31-1)*int64(int32(h.Lo)) + int64(i+1)*int64(int32(h.Lo>>32))
			return uint64(max(sum, -1-sum))
		}
		return folded32(h, i)
	})
}
