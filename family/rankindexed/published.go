package rankindexed

import (
	"fmt"
	"math"
	"math/bits"
	"sort"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
)

// The paper's own way of sizing: buckets whose base index is one word, and sizes to the bit. What it gives is a Geometry like any
// other; a filter of it takes more bits, since its buckets are whole words.

// PublishedChains is the largest L of the paper: the bits of a word.
const PublishedChains = 64

// PublishedBits returns the bits of all buckets and extensions as section V of the paper counts them:
//
//	S1 = (L+Z1) + Z1·r + (1+⌊log2 J2⌋)      a bucket: index, cells and a pointer
//	S2 = 1 + Z2 + Z2·r + (1+⌊log2 J3⌋)      an extension, with a bit that says whether it is in use
//	S3 = 1 + Z3 + Z3·r
//	S  = B·S1 + J2·S2 + J3·S3
//
// where r are all bits of a cell, those of counters or values included. Pointers are those before any growth.
func (g Geometry) PublishedBits() uint64 {
	return uint64(g.publishedBits(float64(g.Pools[1]), float64(g.Pools[2])))
}

// publishedBits is PublishedBits with pools of other sizes.
func (g Geometry) publishedBits(second, third float64) float64 {
	cell := 1 + g.width()
	s1 := g.Chains + g.Cells[0]*cell + bits.Len64(uint64(second))
	s2 := 1 + g.Cells[1]*cell + bits.Len64(uint64(third))
	s3 := 1 + g.Cells[2]*cell
	return float64(g.Buckets)*float64(s1) + second*float64(s2) + third*float64(s3)
}

// Overflow returns the bound of section IV of the paper on the probability that the extensions do not suffice for as many cells
// as the Capacity, before any growth: the sum of those on Pr[O_l > J_l], l = 2, 3, 4, see search. A level that is not there has its
// buckets end one level before, so that its bound is that of the last. It is at most 1.
func (g Geometry) Overflow() float64 {
	b, load := float64(g.Buckets), float64(g.Capacity)/float64(g.Buckets)
	sum, room := 0.0, 0
	for level := range levels {
		room += g.Cells[level]
		if level+1 < levels && g.Pools[level+1] > 0 {
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

// PlanPublished returns the geometry with the fewest PublishedBits whose buckets have at most PublishedChains chains, that keeps the
// rate at the capacity and the Overflow: λ, r, L, Z1, Z2, Z3, J2 and J3 by exhaustive search. Of the Config it takes
// Capacity or Keys, Size.FPR, Overflow, which is 1e-11 or more here, Counting and ValueBits. It takes some 20 ms at
// 10^5 keys. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) PlanPublished() (Geometry, error) {
	if err := c.check(); err != nil {
		return Geometry{}, err
	}
	s := published{bits: math.Inf(1), fpr: c.Size.FPR, overflow: c.Overflow}
	s.best = Geometry{Capacity: max(c.Keys, c.Capacity, 1), Counting: c.Counting, ValueBits: c.ValueBits}
	switch {
	case c.Geometry != nil || c.Growth != 0 || c.Bucket != 0 || c.Size.BitsPerKey != 0 || c.Size.Bytes != 0:
		return Geometry{}, &filter.ConfigError{Field: "fpr", Value: c.Size.FPR, Reason: "the paper's sizing takes a rate, and no size, growth or geometry"}
	case s.best.Capacity > maxKeys:
		return Geometry{}, fmt.Errorf("%d keys: %w", s.best.Capacity, filter.ErrTooLarge)
	case c.Overflow != 0 && c.Overflow < 1e-11:
		return Geometry{}, &filter.ConfigError{Field: "overflow", Value: c.Overflow, Reason: "want 1e-11 or more: farther out, sizes of pools are not known well enough"}
	}
	if s.fpr == 0 {
		s.fpr = DefaultFPR
	}
	if s.overflow == 0 {
		s.overflow = DefaultOverflow
	}
	form := s.best
	for l := PublishedChains; l > 0; l-- { // large buckets first: a small best soon spares the rest
		for r := 1; r <= MaxRemainder; r++ {
			form.Chains, form.Remainder = l, r
			// 1-exp(-λ/2^r) = ε. With λ above 3 a remainder has bits too few, below 0.3 too many.
			lambda := -math.Log1p(-s.fpr) * math.Ldexp(1, r)
			if lambda < 3 && (lambda > 0.3 || r == MaxRemainder) && form.width() <= 63 {
				s.buckets(form, lambda)
			}
		}
	}
	if math.IsInf(s.bits, 1) {
		return Geometry{}, &filter.ConfigError{Field: "fpr", Value: s.fpr, Reason: "no remainder of up to 48 bits keeps it"}
	}
	form.Chains, form.Remainder = s.best.Chains, s.best.Remainder
	for more := 1; more <= 20; more++ { // loads between those that so many chains give, up to 4% below
		s.buckets(form, -math.Log1p(-s.fpr)*math.Ldexp(1, form.Remainder)*(1-0.002*float64(more)))
	}
	return s.best, nil
}

// published is a search under way.
type published struct {
	fpr, overflow float64
	best          Geometry
	bits          float64 // of the best
}

// buckets tries as few buckets as keep the rate.
func (s *published) buckets(g Geometry, lambda float64) {
	b := math.Ceil(float64(g.Capacity) / (lambda * float64(g.Chains)))
	g.Buckets = uint64(min(b, maxBuckets))
	if g.FPR(g.Capacity) > s.fpr*(1+1e-9) {
		return
	}
	t := newTails(g, s.overflow)
	for deepest := t.deepest(); ; deepest++ {
		last := t.last(deepest)
		s.cells(g, t, deepest, s.overflow-last)
		if last < s.overflow/10 {
			return // a cell more leaves hardly more for the pools
		}
	}
}

// cells tries all numbers of cells that add up to deepest; left of P_o is for the pools.
func (s *published) cells(g Geometry, t *tails, deepest int, left float64) {
	b, cell := float64(g.Buckets), float64(1+g.width())
	// Pools are larger than what is wanted on average, so that there are cells for the mean of the keys beyond z1 at least.
	beyond := 0.0
	for z1 := deepest; z1 > 0; z1-- {
		beyond += t.above(z1)
		if b*(float64(g.Chains)+cell*(float64(z1)+beyond)) >= s.bits {
			continue
		}
		g.Cells, g.Pools = [levels]int{z1}, [levels]uint64{}
		second := float64(t.least(z1))
		switch {
		case z1 == deepest:
			s.take(g)
			continue
		case second == 0: // cells that do without the second level are tried at a smaller deepest
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

// pools tries all sizes of pools for a geometry of which all else is known.
func (s *published) pools(g Geometry, t *tails, left float64) {
	second, third := t.least(g.Cells[0]), uint64(0)
	if g.Cells[2] > 0 {
		third = t.least(g.Cells[0] + g.Cells[1])
	}
	if g.Cells[2] > 0 && third == 0 {
		return // as above
	}
	// More extensions of the second level leave the third level more of P_o.
	for j := second; g.publishedBits(float64(j), float64(third)) < s.bits; j += 1 + j/512 {
		rest := left - 2*stat.UpperTail(j+1, g.Buckets, t.above(g.Cells[0]))
		if rest <= 0 {
			continue
		}
		g.Pools[1], g.Pools[2] = j, 0
		if g.Cells[2] > 0 {
			g.Pools[2] = quantile(g.Buckets, t.above(g.Cells[0]+g.Cells[1]), rest/2)
		}
		s.take(g)
		if g.Pools[2] == third {
			return
		}
	}
}

// take keeps the geometry if it is the smallest so far.
func (s *published) take(g Geometry) {
	if bits := float64(g.PublishedBits()); bits < s.bits && g.Pools[2] <= g.Pools[1] {
		s.best, s.bits = g, bits
	}
}

// tails are the probabilities that buckets of one geometry have many keys.
type tails struct {
	n, buckets uint64
	overflow   float64
	more       []float64      // by cells
	quantiles  map[int]uint64 // those that were asked for
}

func newTails(g Geometry, overflow float64) *tails {
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

// least returns how many extensions buckets with more keys than cells want if they may use up all of P_o.
func (t *tails) least(cells int) uint64 {
	j, ok := t.quantiles[cells]
	if !ok {
		j = quantile(t.buckets, t.above(cells), t.overflow/2)
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

// deepest returns the least number of cells that some bucket goes over with a probability below P_o.
func (t *tails) deepest() int {
	load := t.n / t.buckets
	return int(load) + sort.Search(1<<20, func(more int) bool { return t.last(int(load)+more) < t.overflow })
}
