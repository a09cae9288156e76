package shard_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// uses lists the ways in which families derive positions from a hash: see the package comment of each. parts is the
// number of equal parts of the filter in which keys are counted.
var uses = []struct {
	name string
	part func(h filter.Hash, parts int) int
}{
	// partitioned: groups and inner shards; twochoice: inner shards; rankindexed: buckets; blocked, blockpartitioned:
	// blocks
	{"top bits of Hi", func(h filter.Hash, parts int) int { return scaled(h.Hi, parts) }},
	// for standard, counting, partitioned and twochoice the first position, for rankindexed the chains
	{"top bits of Lo", func(h filter.Hash, parts int) int { return scaled(h.Lo, parts) }},
	// standard, counting, twochoice: second position
	{"nine times Lo, rotated, plus Hi", func(h filter.Hash, parts int) int {
		return scaled(bits.RotateLeft64(9*h.Lo, 25)+h.Hi, parts)
	}},
	// partitioned: second position
	{"Lo times Hi, folded", func(h filter.Hash, parts int) int {
		hi, lo := bits.Mul64(h.Lo, h.Hi|1)
		return scaled(hi^lo, parts)
	}},
	// blocked: bits of a line
	{"Lo rotated", func(h filter.Hash, parts int) int { return scaled(bits.RotateLeft64(h.Lo, 27), parts) }},
	// fuse: segments
	{"Lo, mixed as in Murmur3", func(h filter.Hash, parts int) int {
		x := h.Lo
		x = (x ^ x>>33) * 0xff51afd7ed558ccd
		x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
		return scaled(x^x>>33, parts)
	}},
	// guava, redisbloom: positions by remainders
	{"Lo modulo", func(h filter.Hash, parts int) int { return int(h.Lo % uint64(parts)) }},
	{"Lo plus Hi, modulo", func(h filter.Hash, parts int) int { return int((h.Lo + h.Hi) % uint64(parts)) }},
}

// keyCount is the number of keys in the tests of large sets.
func keyCount() int {
	if *long {
		return 10_000_000
	}
	return 250_000
}

// spread returns the chi square of counts that are equal on average, in standard deviations from its mean.
func spread(counts []int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	mean, chi := float64(total)/float64(len(counts)), 0.0
	for _, c := range counts {
		d := float64(c) - mean
		chi += d * d / mean
	}
	free := float64(len(counts) - 1)
	return (chi - free) / math.Sqrt(2*free)
}

// unevenUses routes keys to 16 shards and counts them by shard and part of the filter, for each use and for 3 to 4096
// parts. It returns all uses for which the counts do not look like counts of random keys.
func unevenUses(route routing, hash func(i int) filter.Hash) (found []string) {
	const shards = 16
	sizes := []int{3, 64, 1000, 4096}
	counts := make([][][]int, len(uses))
	for u := range uses {
		counts[u] = make([][]int, len(sizes))
		for i, parts := range sizes {
			counts[u][i] = make([]int, shards*parts)
		}
	}
	for i := range keyCount() {
		h := hash(i)
		s := route(h, shards)
		for u, use := range uses {
			for j, parts := range sizes {
				counts[u][j][s*parts+use.part(h, parts)]++
			}
		}
	}
	for u, use := range uses {
		for j, parts := range sizes {
			if z := spread(counts[u][j]); math.Abs(z) > 6 {
				found = append(found, fmt.Sprintf("%s, %d parts: chi square is %.1f standard deviations off", use.name, parts, z))
			}
		}
	}
	return found
}

// TestIndependentUses counts keys by shard and by part of a filter. The two must be independent. -long counts 10
// million keys.
func TestIndependentUses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	seeded, random := filter.NewHasher(7), rand.New(rand.NewPCG(3, 4))
	for name, hash := range map[string]func(i int) filter.Hash{
		"random":   func(int) filter.Hash { return filter.Hash{Hi: random.Uint64(), Lo: random.Uint64()} },
		"integers": func(i int) filter.Hash { return seeded.SumUint64(uint64(i)) },
		"sparse":   func(i int) filter.Hash { return seeded.SumUint64(uint64(i) << 40) },
	} {
		for _, e := range unevenUses(shard.Route, hash) {
			t.Errorf("%s: %s", name, e)
		}
	}
	if !t.Failed() {
		for name, bad := range map[string]routing{
			"top bits of Hi": func(h filter.Hash, shards int) int { return scaled(h.Hi, shards) },
			"top bits of Lo": func(h filter.Hash, shards int) int { return scaled(h.Lo, shards) },
			"low bits of Lo": func(h filter.Hash, shards int) int { return int(h.Lo % uint64(shards)) },
			"fold": func(h filter.Hash, shards int) int {
				hi, lo := bits.Mul64(h.Lo, h.Hi|1)
				return scaled(hi^lo, shards)
			},
		} {
			if len(unevenUses(bad, func(i int) filter.Hash { return seeded.SumUint64(uint64(i)) })) == 0 {
				t.Errorf("shards by %s: not noticed", name)
			}
		}
	}
}

// TestIndependenceLarge is TestIndependence for filters that divide their keys among inner shards, groups, segments or
// buckets: 10 million keys in 16 shards.
func TestIndependenceLarge(t *testing.T) {
	if !*long {
		t.Skip("takes a minute: run with -long")
	}
	for _, f := range forms(t) {
		switch f.family.Name {
		case "partitioned", "blockpartitioned", "twochoice", "fuse":
			if f.hasher.ID() != filter.XXH3 {
				continue
			}
			t.Run(f.String(), func(t *testing.T) {
				routed := f.measure(t, shard.Route, 16, keyCount(), 4_000_000, 0)
				if e := beyondPosterior(routed) + unlikePlain(routed); e != "" {
					t.Error(e)
				}
			})
		}
	}
}
