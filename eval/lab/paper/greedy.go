package paper

import (
	"context"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// Greedy is the search of Hao, Kodialam and Lakshman (2007, Fig. 9). Every group chooses K different functions of H,
// one by one, each time the one that sets the fewest new bits. Then passes remove the choice of each group and choose
// again, until a pass changes nothing. The search by shifts of internal/family/partitioned replaces it.
//
// Search is the specification. SearchFast gives the same result in less time; a test compares the two.
type Greedy struct {
	Keys      int
	Groups    int // g
	Functions int // H
	K         int
	Bits      uint64 // m without the g·k·log2(H) bits that store the choices: see GreedyBits
	// Group returns the group of a key, h0. Bit returns the position of a key under function j, in [0, Functions).
	Group func(key int) int
	Bit   func(key, j int) uint64
	// Stop, if not nil, is called after each pass with the fills so far, see GreedyChoice. If it returns true the
	// search ends.
	Stop func(fills []float64) bool
}

// GreedyBits returns the bits that g·k choices of h functions leave of m bits, or 0 if they leave none.
func GreedyBits(m uint64, g, k, h int) uint64 {
	side := uint64(math.Ceil(float64(g*k) * math.Log2(float64(h))))
	return m - min(m, side)
}

// GreedyChoice is the result of a search.
type GreedyChoice struct {
	Functions [][]int   // of each group
	Fills     []float64 // after the first choice and after each pass
	Set       []bool    // the bits
}

// Search runs the algorithm for at most that many passes after the first choice, in Keys·Functions·K steps a pass. It
// returns the error of ctx if that ends.
func (r Greedy) Search(ctx context.Context, passes int) (GreedyChoice, error) {
	members, _ := r.members()
	counts := make([]int, r.Bits)
	choose := func(keys []int) []int { return r.choose(counts, keys) }
	remove := func(keys []int, j int) { r.count(counts, keys, j, -1) }
	return r.search(ctx, passes, members, counts, choose, remove)
}

// members returns the keys of each group and the size of the largest group.
func (r Greedy) members() (members [][]int, largest int) {
	members = make([][]int, r.Groups)
	for key := range r.Keys {
		g := r.Group(key)
		members[g] = append(members[g], key)
		largest = max(largest, len(members[g]))
	}
	return members, largest
}

// search runs the passes. choose chooses the functions for the keys of a group and counts their bits; remove removes
// the bits of a function.
func (r Greedy) search(
	ctx context.Context,
	passes int,
	members [][]int,
	counts []int,
	choose func(keys []int) []int,
	remove func(keys []int, j int),
) (GreedyChoice, error) {
	c := GreedyChoice{Functions: make([][]int, r.Groups)}
	for pass := 0; pass <= passes; pass++ {
		for g, keys := range members {
			if ctx.Err() != nil {
				return GreedyChoice{}, ctx.Err()
			}
			for _, j := range c.Functions[g] {
				remove(keys, j)
			}
			c.Functions[g] = choose(keys)
		}
		c.Fills = append(c.Fills, fillOf(counts))
		if pass > 0 && (c.Fills[pass] == c.Fills[pass-1] || r.Stop != nil && r.Stop(c.Fills)) {
			break
		}
	}
	c.Set = make([]bool, r.Bits)
	for i, n := range counts {
		c.Set[i] = n > 0
	}
	return c, nil
}

// choose chooses K functions for the keys of a group, one after the other, counts their bits and returns them.
func (r Greedy) choose(counts []int, keys []int) (chosen []int) {
	taken := make([]bool, r.Functions)
	for range r.K {
		best, fewest := -1, 0
		for j := range r.Functions {
			if taken[j] {
				continue
			}
			fresh := 0
			for _, key := range keys {
				b := r.Bit(key, j)
				if counts[b] == 0 {
					fresh++
				}
				counts[b]++
			}
			r.count(counts, keys, j, -1)
			if best < 0 || fresh < fewest {
				best, fewest = j, fresh
			}
		}
		taken[best] = true
		chosen = append(chosen, best)
		r.count(counts, keys, best, 1)
	}
	return chosen
}

func (r Greedy) count(counts []int, keys []int, j, by int) {
	for _, key := range keys {
		counts[r.Bit(key, j)] += by
	}
}

func fillOf(counts []int) float64 {
	set := 0
	for _, n := range counts {
		if n > 0 {
			set++
		}
	}
	return float64(set) / float64(len(counts))
}

// RandomFunctions returns h0 and the h_j of random hashing, for keys with the given hashes.
func RandomFunctions(hs []filter.Hash, groups int, bits uint64) (group func(key int) int, bit func(key, j int) uint64) {
	group = func(key int) int { return int(probe.Position(hs[key].Hi, uint64(groups))) }
	bit = func(key, j int) uint64 {
		x := probe.Mix(hs[key].Lo^uint64(j+1)*0x9E3779B97F4A7C15, hs[key].Hi|1)
		return probe.Position(probe.Mix(x, 0xA0761D6478BD642F), bits)
	}
	return group, bit
}
