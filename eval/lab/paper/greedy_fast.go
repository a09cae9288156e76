package paper

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
)

// SearchFast returns the same result as Search in Keys·Functions steps a pass, for any K. It computes every position of
// a group once a pass and records which functions hit it. When a function is chosen, its new bits are subtracted from
// the scores of the others, so that no function is scored twice. It needs 4 bytes for each function of each key of the
// largest group; with 2^32 or more of them it returns an error wrapping filter.ErrTooLarge.
func (r Greedy) SearchFast(ctx context.Context, passes int) (GreedyChoice, error) {
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

// scores is the state of SearchFast. A visit is a key under a function, with the number function·keys + key + 1. The
// visits to a bit are a linked list: head[bit] is the last one, next[visit-1] the one before, and 0 ends the list.
type scores struct {
	Greedy
	counts     []int
	free       []uint8 // 1 where counts has 0
	head, next []uint32
	fresh      []int32 // of each function: the number of new bits that it would set
	taken      []bool
}

// choose is Greedy.choose.
func (s *scores) choose(keys []int) (chosen []int) {
	s.score(keys)
	clear(s.taken)
	for range s.K {
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
