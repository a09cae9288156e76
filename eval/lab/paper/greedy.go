package paper

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// Greedy is the search of Hao, Kodialam and Lakshman (2007, Fig. 9). Every group chooses K different functions of H,
// one by one, each time the one that sets the fewest new bits. Then passes remove the choice of each group and choose
// again, until a pass changes nothing. The search by shifts of internal/family/partitioned replaces it.
//
// Search takes fewer steps than the algorithm as described in the paper. A test compares the results of the two.
type Greedy struct {
	Keys      int
	Groups    int // g
	Functions int // H
	K         int
	Ks        []int  // if not nil, the k of each group, instead of K
	Bits      uint64 // m minus the g·k·log2(H) bits that store the choices: see GreedyBits
	// Group returns the group of a key, h0. Bit returns the position of a key under function j, in [0, Functions).
	Group func(key int) int
	Bit   func(key, j int) uint64
	// Stop, if not nil, is called after each pass with the fills so far, see GreedyChoice. If Stop returns true, the
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
	Functions [][]int   // functions of each group
	Fills     []float64 // fill after the first choice and after each pass
	Set       []bool    // the bits
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
	ctx context.Context, passes int, members [][]int, counts []int, choose func(keys []int) []int,
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

func fillOf(counts []int) float64 {
	set := 0
	for _, n := range counts {
		if n > 0 {
			set++
		}
	}
	return float64(set) / float64(len(counts))
}

// Search runs the algorithm for at most the given number of passes after the first choice. A pass takes Keys·Functions
// steps for any K. If ctx ends, Search returns its error.
//
// It computes every position of a group once per pass and records which functions hit it. When a function is chosen,
// its new bits are subtracted from the scores of the others, so that no function is scored twice. It needs 4 bytes for
// each function of each key of the largest group; with 2^32 or more of them it returns an error wrapping
// filter.ErrTooLarge.
func (r Greedy) Search(ctx context.Context, passes int) (GreedyChoice, error) {
	members, largest := r.members()
	if uint64(largest)*uint64(r.Functions) >= math.MaxUint32 {
		return GreedyChoice{}, fmt.Errorf("%d keys in a group and %d functions: %w", largest, r.Functions,
			filter.ErrTooLarge)
	}
	s := scores{
		Greedy: r,
		counts: make([]int, r.Bits),
		free:   make([]uint8, r.Bits),
		head:   make([]uint32, r.Bits),
		next:   make([]uint32, largest*r.Functions),
		fresh:  make([]int32, r.Functions),
		taken:  make([]bool, r.Functions),
	}
	for i := range s.free {
		s.free[i] = 1
	}
	return r.search(ctx, passes, members, s.counts, s.choose, s.remove)
}

// scores is the state of Search. A visit is a key under a function, with the number function·keys + key + 1. The
// visits to a bit are a linked list: head[bit] is the last one, next[visit-1] the one before, and 0 ends the list.
type scores struct {
	Greedy
	counts     []int
	free       []uint8 // 1 where counts has 0
	head, next []uint32
	fresh      []int32 // number of new bits that each function would set
	taken      []bool
}

// choose chooses K functions for the keys of a group and counts their bits.
func (s *scores) choose(keys []int) (chosen []int) {
	s.score(keys)
	clear(s.taken)
	k := s.K
	if s.Ks != nil && len(keys) > 0 {
		k = s.Ks[s.Group(keys[0])]
	}
	for range k {
		best := -1
		for j, f := range s.fresh {
			if !s.taken[j] && (best < 0 || f < s.fresh[best]) {
				best = j
			}
		}
		s.taken[best] = true
		chosen = append(chosen, best)
		s.take(keys, best)
	}
	return chosen
}

// score records the visits of a group and counts the new bits of every function.
func (s *scores) score(keys []int) {
	clear(s.head)
	visit := uint32(0)
	for j := range s.Functions {
		before, fresh := visit, int32(0)
		for _, key := range keys {
			b := s.Bit(key, j)
			visit++
			last := s.head[b]
			if last > before {
				continue // another key hit this bit under the same function
			}
			s.next[visit-1], s.head[b] = last, visit
			fresh += int32(s.free[b])
		}
		s.fresh[j] = fresh
	}
}

// take counts the bits of a function, and subtracts the new ones from the scores of all functions that hit them.
func (s *scores) take(keys []int, j int) {
	for _, key := range keys {
		b := s.Bit(key, j)
		if s.counts[b] == 0 {
			s.free[b] = 0
			for v := s.head[b]; v != 0; v = s.next[v-1] {
				s.fresh[(v-1)/uint32(len(keys))]--
			}
		}
		s.counts[b]++
	}
}

// remove removes the bits of a function.
func (s *scores) remove(keys []int, j int) {
	for _, key := range keys {
		b := s.Bit(key, j)
		if s.counts[b]--; s.counts[b] == 0 {
			s.free[b] = 1
		}
	}
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
