package java

import (
	"fmt"
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// positions32 returns the positions of Sum32, in the arithmetic of Java.
func positions32(h filter.Hash, k int32, bits int64) (all []int64) {
	h1, h2 := int32(h.Lo), int32(h.Lo>>32)
	for i := int32(1); i <= k; i++ {
		c := h1 + i*h2
		if c < 0 {
			c = ^c
		}
		all = append(all, int64(c)%bits)
	}
	return all
}

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
			Sum32: func(h filter.Hash) []int64 { return positions32(h, k, bits) },
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

// TestSparkPositions compares both versions with their definition in Spark, in the arithmetic of Java.
func TestSparkPositions(t *testing.T) {
	const k = 9
	for _, words := range []uint64{1, 3, 150, 1 << 20, 1<<25 + 7} {
		if words > 1<<20 && testing.Short() {
			continue // 256 MiB
		}
		bits := int64(64 * words)
		for s, positions := range map[Sums]func(h filter.Hash) []int64{
			Sum32: func(h filter.Hash) []int64 { return positions32(h, k, bits) },
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

// documented computes the examples of a family in docs/format. probe returns probe i of a key, from 0 on, before the
// reduction modulo the number of bits.
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
		want := []string{"`" + f.Spec.String() + "`", filtertest.DocumentedWords(f.Words)}
		for _, key := range []string{"key-7", "key-40"} {
			h := hasher.SumString(key)
			var at []uint64
			has := true
			for i := range uint64(7) {
				p := probe(s, h, i) % 448
				at = append(at, p)
				has = has && f.Words[p/64]>>(p%64)&1 == 1
			}
			if has != f.Has(h) {
				t.Errorf("%s: key %s is present: %v", f.Spec, key, f.Has(h))
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
