package paper

import (
	"fmt"
	"math"
	"math/bits"
	"sort"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/stat"
)

// The sizing of the paper on rank-indexed hashing: buckets whose base index is one word, and sizes counted in bits. It
// gives a rankindexed.Geometry; a filter of that geometry takes more bits, since its buckets are whole words.

// RankIndexedChains is the largest number of chains L in the paper: the bits of a word.
const RankIndexedChains = 64

// maxRankIndexedKeys keeps sums of bits below 2^63.
const maxRankIndexedKeys = 1 << 50

// RankIndexedBits returns the bits of all buckets and extensions as section V of the paper counts them:
//
//	S1 = (L+Z1) + Z1·r + (1+⌊log2 J2⌋)      a bucket: index, cells and a pointer
//	S2 = 1 + Z2 + Z2·r + (1+⌊log2 J3⌋)      an extension, with a bit for being in use
//	S3 = 1 + Z3 + Z3·r
//	S  = B·S1 + J2·S2 + J3·S3
//
// Here r is the number of all bits of a cell, including its counter or value. Pointers have their size before any
// growth.
func RankIndexedBits(g rankindexed.Geometry) uint64 {
	return uint64(rankIndexedBits(g, float64(g.Pools[1]), float64(g.Pools[2])))
}

// rankIndexedBits is RankIndexedBits with pools of second and third extensions.
func rankIndexedBits(g rankindexed.Geometry, second, third float64) float64 {
	cell := 1 + cellBits(g)
	s1 := g.Chains + g.Cells[0]*cell + bits.Len64(uint64(second))
	s2 := 1 + g.Cells[1]*cell + bits.Len64(uint64(third))
	s3 := 1 + g.Cells[2]*cell
	return float64(g.Buckets)*float64(s1) + second*float64(s2) + third*float64(s3)
}

// cellBits returns the bits of a cell: remainder, growth, and a counter of 2 bits or a value.
func cellBits(g rankindexed.Geometry) int {
	n := g.Growth + g.Remainder + g.ValueBits
	if g.Counting {
		n += 2
	}
	return n
}

// RankIndexed holds the requirements on a geometry. Zero fields take the default noted beside them.
type RankIndexed struct {
	Keys      uint64  // capacity n; 0: 1
	FPR       float64 // rate at the capacity; 0: rankindexed.DefaultFPR
	Overflow  float64 // P_o, 1e-11 to 0.1; 0: rankindexed.DefaultOverflow
	Counting  bool    // cells have counters
	ValueBits int     // bits of each cell, 0 to rankindexed.MaxValueBits; not with Counting
}

// Plan returns the geometry with the fewest RankIndexedBits that has at most RankIndexedChains chains a bucket and
// keeps the rate and the overflow. It searches λ, r, L, Z1, Z2, Z3, J2 and J3 exhaustively, in about 20 ms at 10^5
// keys. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c RankIndexed) Plan() (rankindexed.Geometry, error) {
	s := rankIndexedSearch{bits: math.Inf(1), fpr: c.FPR, overflow: c.Overflow}
	s.best = rankindexed.Geometry{Capacity: max(c.Keys, 1), Counting: c.Counting, ValueBits: c.ValueBits}
	if err := c.check(); err != nil {
		return rankindexed.Geometry{}, err
	}
	if s.fpr == 0 {
		s.fpr = rankindexed.DefaultFPR
	}
	if s.overflow == 0 {
		s.overflow = rankindexed.DefaultOverflow
	}
	form := s.best
	for l := RankIndexedChains; l > 0; l-- { // large buckets first: a small best size found early prunes the rest
		for r := 1; r <= rankindexed.MaxRemainder; r++ {
			form.Chains, form.Remainder = l, r
			// 1-exp(-λ/2^r) = ε. With λ above 3 a remainder has too few bits, below 0.3 too many.
			lambda := -math.Log1p(-s.fpr) * math.Ldexp(1, r)
			if lambda < 3 && (lambda > 0.3 || r == rankindexed.MaxRemainder) && cellBits(form) <= 63 {
				s.buckets(form, lambda)
			}
		}
	}
	if math.IsInf(s.bits, 1) {
		return rankindexed.Geometry{}, &filter.ConfigError{
			Field:  "fpr",
			Value:  s.fpr,
			Reason: "no remainder of up to 48 bits keeps it",
		}
	}
	form.Chains, form.Remainder = s.best.Chains, s.best.Remainder
	for more := 1; more <= 20; more++ { // loads up to 4% lower, between the loads of two numbers of chains
		s.buckets(form, -math.Log1p(-s.fpr)*math.Ldexp(1, form.Remainder)*(1-0.002*float64(more)))
	}
	return s.best, nil
}

// check returns an error if a field is invalid.
func (c RankIndexed) check() error {
	switch {
	case c.Keys > maxRankIndexedKeys:
		return fmt.Errorf("%d keys: %w", c.Keys, filter.ErrTooLarge)
	case c.Overflow != 0 && !(c.Overflow >= 1e-11 && c.Overflow <= 0.1):
		return &filter.ConfigError{Field: "overflow", Value: c.Overflow,
			Reason: "want 1e-11 to 0.1: below, sizes of pools are not known exactly enough"}
	case c.ValueBits < 0 || c.ValueBits > rankindexed.MaxValueBits:
		return &filter.ConfigError{
			Field:  "value_bits",
			Value:  c.ValueBits,
			Reason: fmt.Sprintf("want 0 to %d", rankindexed.MaxValueBits),
		}
	case c.Counting && c.ValueBits > 0:
		return &filter.ConfigError{
			Field:  "value_bits",
			Value:  c.ValueBits,
			Reason: "a filter has counters or values, not both",
		}
	}
	return family.Sizing{FPR: c.FPR}.Check()
}

// rankIndexedSearch is the state of a search.
type rankIndexedSearch struct {
	fpr, overflow float64
	best          rankindexed.Geometry
	bits          float64 // bits of the best
}

// buckets tries the smallest number of buckets that keeps the rate.
func (s *rankIndexedSearch) buckets(g rankindexed.Geometry, lambda float64) {
	b := math.Ceil(float64(g.Capacity) / (lambda * float64(g.Chains)))
	g.Buckets = uint64(min(b, 1<<48))
	if g.FPR(g.Capacity) > s.fpr*(1+1e-9) {
		return
	}
	t := newTails(g, s.overflow)
	for deepest := t.deepest(); ; deepest++ {
		last := t.last(deepest)
		s.cells(g, t, deepest, s.overflow-last)
		if last < s.overflow/10 {
			return // one more cell would leave hardly more of P_o for the pools
		}
	}
}

// cells tries all numbers of cells with the sum deepest. left is the part of P_o for the pools.
func (s *rankIndexedSearch) cells(g rankindexed.Geometry, t *tails, deepest int, left float64) {
	b, cell := float64(g.Buckets), float64(1+cellBits(g))
	// A lower bound on the size: pools are larger than their mean use, so they have cells at least for the mean number
	// of keys beyond z1.
	beyond := 0.0
	for z1 := deepest; z1 > 0; z1-- {
		beyond += t.above(z1)
		if b*(float64(g.Chains)+cell*(float64(z1)+beyond)) >= s.bits {
			continue
		}
		g.Cells, g.Pools = [3]int{z1}, [3]uint64{}
		second := float64(t.minPool(z1))
		switch {
		case z1 == deepest:
			s.take(g)
			continue
		case second == 0: // cells that need no second level are tried at a smaller deepest
			continue
		}
		first := b * (float64(g.Chains) + cell*float64(z1) + float64(bits.Len64(uint64(second))))
		for z2 := 1; z1+z2 <= deepest && first+second*cell*float64(z2) < s.bits; z2++ {
			z3 := deepest - z1 - z2
			if first+second*cell*float64(z2)+b*t.above(z1+z2)*cell*float64(z3) < s.bits {
				g.Cells[1], g.Cells[2] = z2, z3
				s.pools(g, t, left)
			}
		}
	}
}

// pools tries all sizes of pools for a geometry with everything else fixed.
func (s *rankIndexedSearch) pools(g rankindexed.Geometry, t *tails, left float64) {
	second, third := t.minPool(g.Cells[0]), uint64(0)
	if g.Cells[2] > 0 {
		third = t.minPool(g.Cells[0] + g.Cells[1])
	}
	if g.Cells[2] > 0 && third == 0 {
		return // the same geometry is tried at a smaller deepest
	}
	// More extensions of the second level leave more of P_o for the third level.
	for j := second; rankIndexedBits(g, float64(j), float64(third)) < s.bits; j += 1 + j/512 {
		rest := left - 2*stat.UpperTail(j+1, g.Buckets, t.above(g.Cells[0]))
		if rest <= 0 {
			continue
		}
		g.Pools[1], g.Pools[2] = j, 0
		if g.Cells[2] > 0 {
			g.Pools[2] = stat.UpperQuantile(g.Buckets, t.above(g.Cells[0]+g.Cells[1]), rest/2)
		}
		s.take(g)
		if g.Pools[2] == third {
			return
		}
	}
}

// take keeps g if it is the smallest geometry so far.
func (s *rankIndexedSearch) take(g rankindexed.Geometry) {
	if bits := float64(RankIndexedBits(g)); bits < s.bits && g.Pools[2] <= g.Pools[1] {
		s.best, s.bits = g, bits
	}
}

// tails holds the probabilities that buckets of one geometry have many keys.
type tails struct {
	n, buckets uint64
	overflow   float64
	more       []float64      // probability of more cells, by cells
	quantiles  map[int]uint64 // results of minPool
}

func newTails(g rankindexed.Geometry, overflow float64) *tails {
	load := float64(g.Capacity) / float64(g.Buckets)
	t := &tails{n: g.Capacity, buckets: g.Buckets, overflow: overflow, quantiles: map[int]uint64{}}
	t.more = make([]float64, int(load+20*math.Sqrt(load))+100)
	term := math.Exp(-load)
	for k := range t.more { // Pr[X > k-1] - Pr[X > k]
		t.more[k] = term
		term *= load / float64(k+1)
	}
	sum := 0.0
	for k := len(t.more) - 1; k >= 0; k-- {
		sum, t.more[k] = sum+t.more[k], sum
	}
	return t
}

// above returns the probability that a bucket has more keys than cells, by the Poisson distribution.
func (t *tails) above(cells int) float64 { return t.more[min(cells, len(t.more)-1)] }

// minPool returns the number of extensions that buckets with more keys than cells need if the pool may use all of P_o.
func (t *tails) minPool(cells int) uint64 {
	j, ok := t.quantiles[cells]
	if !ok {
		j = stat.UpperQuantile(t.buckets, t.above(cells), t.overflow/2)
		t.quantiles[cells] = j
	}
	return j
}

// last returns the bound on the probability that some bucket has more keys than cells.
func (t *tails) last(cells int) float64 {
	if uint64(cells) >= t.n {
		return 0
	}
	b := float64(t.buckets)
	return b * stat.UpperTail(uint64(cells)+1, t.n, 1/b)
}

// deepest returns the smallest number of cells that some bucket exceeds with a probability below P_o.
func (t *tails) deepest() int {
	load := t.n / t.buckets
	return int(load) + sort.Search(1<<20, func(more int) bool { return t.last(int(load)+more) < t.overflow })
}

// OverflowBound returns the bound of section IV of the paper on the probability that the extensions do not suffice for
// a full filter, before any growth. It is the sum of the bounds on Pr[O_l > J_l], l = 2, 3, 4. Without a level, the
// bound of the last existing level applies. The result is at most 1.
func OverflowBound(g rankindexed.Geometry) float64 {
	b, load := float64(g.Buckets), float64(g.Capacity)/float64(g.Buckets)
	sum, room := 0.0, 0
	for level := range g.Cells {
		room += g.Cells[level]
		if level+1 < len(g.Cells) && g.Pools[level+1] > 0 {
			sum += 2 * stat.UpperTail(g.Pools[level+1]+1, g.Buckets, stat.PoissonTail(load, room))
			continue
		}
		if uint64(room) < g.Capacity {
			sum += b * stat.UpperTail(uint64(room)+1, g.Capacity, 1/b)
		}
		break
	}
	return min(1, sum)
}
