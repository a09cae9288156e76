package partitioned

import (
	"context"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// Reference is the paper's own algorithm (Fig. 9), plain and exact: every group chooses K different ones of Functions hash
// functions, one by one, each the one that sets the fewest new bits; then passes take each group away and choose anew,
// until a pass changes nothing. It is here to be compared with; the search of this package takes its place.
// Search is the specification, SearchFast gives the same in less time.
type Reference struct {
	Keys      int
	Groups    int // g
	Functions int // H
	K         int
	Bits      uint64 // m without the g·k·log2(H) bits that name the choices: see ReferenceBits
	// Group returns the group of a key, h0, and Bit the position that function j in [0, Functions) gives it.
	Group func(key int) int
	Bit   func(key, j int) uint64
	// Stop, if not nil, may end a search that is not at its end. It is asked after each pass, and sees the fill after the
	// first choice and after each pass so far.
	Stop func(fills []float64) bool
}

// ReferenceBits returns what g·k choices of H functions leave of m bits, or 0 if they leave nothing.
func ReferenceBits(m uint64, g, k, h int) uint64 {
	side := uint64(math.Ceil(float64(g*k) * math.Log2(float64(h))))
	return m - min(m, side)
}

// Choice is what a Reference found.
type Choice struct {
	Functions [][]int   // of each group
	Fills     []float64 // after the first choice and after each pass
	Set       []bool    // the bits
}

// Search runs the algorithm for at most that many passes after the first choice. It takes Keys·Functions·K steps a pass.
func (r Reference) Search(ctx context.Context, passes int) (Choice, error) {
	members, _ := r.members()
	counts := make([]int, r.Bits)
	choose := func(keys []int) []int { return r.choose(counts, keys) }
	remove := func(keys []int, j int) { r.count(counts, keys, j, -1) }
	return r.search(ctx, passes, members, counts, choose, remove)
}

// members returns the keys of each group, and the number of them in the largest.
func (r Reference) members() (members [][]int, largest int) {
	members = make([][]int, r.Groups)
	for key := range r.Keys {
		g := r.Group(key)
		members[g] = append(members[g], key)
		largest = max(largest, len(members[g]))
	}
	return members, largest
}

// search runs the passes with two steps: choose the functions of a group's keys and count their bits, and take the bits of
// a function away.
func (r Reference) search(ctx context.Context, passes int, members [][]int, counts []int, choose func(keys []int) []int, remove func(keys []int, j int)) (Choice, error) {
	c := Choice{Functions: make([][]int, r.Groups)}
	for pass := 0; pass <= passes; pass++ {
		for g, keys := range members {
			if ctx.Err() != nil {
				return Choice{}, ctx.Err()
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

// choose counts the bits of K functions for the keys of a group, one function after the other, and returns them.
func (r Reference) choose(counts []int, keys []int) (chosen []int) {
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

func (r Reference) count(counts []int, keys []int, j, by int) {
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

// RandomFunctions returns h0 and the h_j that stand for perfect random hashing, over given hashes of the keys.
func RandomFunctions(hs []filter.Hash, groups int, bits uint64) (group func(key int) int, bit func(key, j int) uint64) {
	group = func(key int) int { return int(probe.Position(hs[key].Hi, uint64(groups))) }
	bit = func(key, j int) uint64 {
		x := probe.Mix(hs[key].Lo^uint64(j+1)*0x9E3779B97F4A7C15, hs[key].Hi|1)
		return probe.Position(probe.Mix(x, 0xA0761D6478BD642F), bits)
	}
	return group, bit
}
