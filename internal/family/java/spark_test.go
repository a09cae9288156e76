package java

import (
	"fmt"
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
	hasher, err := filter.ForeignHasher(filter.Murmur3x86)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Sums{Sum32, Sum64} {
		f, err := New(Config{Kind: Spark, Words: 7, K: 7, Sums: s})
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
				if s == Sum64 {
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
