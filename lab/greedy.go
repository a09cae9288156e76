package lab

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/family/partitioned"
	"github.com/bloomery/bloomery/filter"
)

// published is a filter of the paper on partitioned hashing: n keys in m bits, of which the choices of g groups take their
// share, k of H functions each.
type published struct{ n, m, g, h, k int }

// bits returns the size of the bitmap.
func (p published) bits() uint64 { return partitioned.ReferenceBits(uint64(p.m), p.g, p.k, p.h) }

// functions is h0 and the h_j of a paper's filter, over given keys.
type functions struct {
	group func(key int) int
	bit   func(key, j int) uint64
}

// random is perfect random hashing.
func (p published) random(hs []filter.Hash) functions {
	group, bit := partitioned.RandomFunctions(hs, p.g, p.bits())
	return functions{group, bit}
}

// crc is the hashing of section 5.2.
func (p published) crc(keys [][]byte) functions {
	group, bit := crcFunctions(keys, p.g, p.h, p.bits())
	return functions{group, bit}
}

// found is such a filter after the greedy search.
type found struct {
	published
	partitioned.Choice
}

// mostPasses ends a search that would go on for ever. The searches here come to an end after some ten.
const mostPasses = 200

// search is the algorithm of Fig. 9.
func (p published) search(ctx context.Context, with functions) (found, error) {
	r := partitioned.Reference{Keys: p.n, Groups: p.g, Functions: p.h, K: p.k, Bits: p.bits(), Group: with.group, Bit: with.bit}
	c, err := r.SearchFast(ctx, mostPasses)
	return found{p, c}, err
}

// rate returns p_a = f^k.
func (f found) rate() float64 { return f.rateAfter(len(f.Fills)) }

// rateAfter returns p_a after that many passes, or at the end.
func (f found) rateAfter(passes int) float64 {
	return math.Pow(f.Fills[min(passes, len(f.Fills)-1)], float64(f.k))
}

// settled returns the first pass after which the fill is the same as before in three digits. The paper goes on "until there is
// no more change in fill factor" and does not say how exactly it looks; it prints fills with three digits.
func (f found) settled() int {
	digits := func(pass int) float64 { return math.Round(1000 * f.Fills[pass]) }
	for pass := 1; pass < len(f.Fills); pass++ {
		if digits(pass) == digits(pass-1) {
			return pass
		}
	}
	return len(f.Fills) - 1
}

// has answers a query for a key under the given functions.
func (f found) has(with functions, key int) bool {
	for _, j := range f.Functions[with.group(key)] {
		if !f.Set[with.bit(key, j)] {
			return false
		}
	}
	return true
}

// fewest is the brute force of sections 2 to 4: groups of keys in turn throw their bits at random, tries times, and keep
// the throw that sets the fewest new ones. With k = 1 and a key a group it is the balls of section 3. It returns the fill after
// each group.
func fewest(n, m, k, groups, tries int, r *rand.PCG) (fills []float64) {
	seen := make([]uint32, m) // the try that last hit the bit, or set
	const set = math.MaxUint32
	ones, try := 0, uint32(0)
	for j := range groups {
		throws := ((j+1)*n/groups - j*n/groups) * k
		least, best := throws+1, *r
		for range tries {
			try++
			before, fresh := *r, 0
			for range throws {
				if bit := &seen[throw(r, m)]; *bit < try {
					*bit = try
					fresh++
				}
			}
			if fresh < least {
				least, best = fresh, before
			}
		}
		for range throws {
			seen[throw(&best, m)] = set
		}
		ones += least
		fills = append(fills, float64(ones)/float64(m))
	}
	return fills
}

// throw returns a random bit of m < 2^32.
func throw(r *rand.PCG, m int) uint64 { return r.Uint64() >> 32 * uint64(m) >> 32 }
