package ph

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/filter"
)

// Paper names the paper: the sources of experiments begin with it.
const Paper = "partitioned hashing (Hao, Kodialam and Lakshman, 2007)"

// published holds the parameters of a filter of the paper: n keys in m bits. The choices of the g groups, each k of h
// functions, count as part of the m bits.
type published struct{ n, m, g, h, k int }

// bits returns the size of the bitmap.
func (p published) bits() uint64 { return paper.GreedyBits(uint64(p.m), p.g, p.k, p.h) }

// functions holds h0 and the h_j of a filter for given keys.
type functions struct {
	group func(key int) int
	bit   func(key, j int) uint64
}

// random returns random hashing of keys with the given hashes.
func (p published) random(hs []filter.Hash) functions {
	group, bit := paper.RandomFunctions(hs, p.g, p.bits())
	return functions{group, bit}
}

// crc returns the hashing of section 5.2.
func (p published) crc(keys [][]byte) functions {
	group, bit := paper.CRCFunctions(keys, p.g, p.h, p.bits())
	return functions{group, bit}
}

// found is a filter after the search.
type found struct {
	published
	paper.GreedyChoice
}

// mostPasses limits the passes of a search that does not settle. Searches here settle after about ten.
const mostPasses = 200

// untilSettled is a note on the end of searches.
const untilSettled = "The paper repeats its search \"until there is no more change in fill factor\" and does not say " +
	"in how many digits. Here a search ends after the first pass that leaves three digits, as many as the paper prints, unchanged: the rule of " +
	"the rows \"published search\" of ph-table1."

// search runs the algorithm of Fig. 9 until the fill is settled.
func (p published) search(ctx context.Context, with functions) (found, error) {
	return p.searchUntil(ctx, with, settled)
}

// searchUntil runs the algorithm of Fig. 9 until stop returns true or, if stop is nil, until a pass changes nothing.
func (p published) searchUntil(ctx context.Context, with functions, stop func(fills []float64) bool) (found, error) {
	r := paper.Greedy{
		Keys: p.n, Groups: p.g, Functions: p.h, K: p.k, Bits: p.bits(), Group: with.group, Bit: with.bit, Stop: stop,
	}
	c, err := r.Search(ctx, mostPasses)
	return found{p, c}, err
}

// rate returns p_a = f^k.
func (f found) rate() float64 { return f.rateAfter(len(f.Fills)) }

// rateAfter returns p_a after a number of passes, or at the end of a shorter search.
func (f found) rateAfter(passes int) float64 {
	return math.Pow(f.Fills[min(passes, len(f.Fills)-1)], float64(f.k))
}

// settled reports whether the last pass left three digits of the fill unchanged. The paper continues "until there is no
// more change in fill factor" and does not state the precision. It prints fills with three digits.
func settled(fills []float64) bool {
	digits := func(pass int) float64 { return math.Round(1000 * fills[pass]) }
	last := len(fills) - 1
	return last > 0 && digits(last) == digits(last-1)
}

// settled returns the first pass after which the fill is settled.
func (f found) settled() int {
	for pass := range f.Fills {
		if settled(f.Fills[:pass+1]) {
			return pass
		}
	}
	return len(f.Fills) - 1
}

// has reports whether the filter contains a key under the given functions.
func (f found) has(with functions, key int) bool {
	for _, j := range f.Functions[with.group(key)] {
		if !f.Set[with.bit(key, j)] {
			return false
		}
	}
	return true
}

// fewest is the brute force of sections 2 to 4: each group in turn throws the bits of its keys at random, tries times,
// and keeps the throws that set the fewest new bits. With k = 1 and one key per group it simulates the balls of section
// 3. It returns the fill after each group.
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
				if bit := &seen[experiment.Throw(uint32(r.Uint64()>>32), m)]; *bit < try {
					*bit = try
					fresh++
				}
			}
			if fresh < least {
				least, best = fresh, before
			}
		}
		for range throws {
			seen[experiment.Throw(uint32(best.Uint64()>>32), m)] = set
		}
		ones += least
		fills = append(fills, float64(ones)/float64(m))
	}
	return fills
}
