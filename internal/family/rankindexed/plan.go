package rankindexed

import (
	"math"
	"slices"
	"sort"

	"github.com/bloomery/bloomery/internal/stat"
)

// DefaultOverflow is the default of Config.Overflow: P_o of the paper, the probability that the extensions do not
// suffice for the capacity.
const DefaultOverflow = 1e-10

// order lists the requirements for a geometry.
type order struct {
	form     Geometry // Capacity, Growth, Counting and ValueBits
	fpr      float64  // ε, at the capacity and at each later capacity
	overflow float64  // P_o
	words    []int    // sizes of a bucket, in 64-bit words
	index    int      // largest index of a bucket, in bits
	lambda   float64  // largest mean number of keys of a chain
	extended float64  // largest share of the buckets with an extension at the capacity; 0 for any
	// spread divides the buckets into equal shares and returns the mean load of each share, relative to the capacity
	// per bucket. It is nil if all loads are equal.
	spread func(buckets uint64) []float64
	most   uint64 // largest number of keys, with spread; otherwise the capacity
}

// overfullShare returns the share of the buckets with more keys than cells if the capacity per bucket is load: the mean
// of the Poisson tails of the mean loads.
func (o *order) overfullShare(buckets uint64, load float64, cells int) float64 {
	if o.spread == nil {
		return stat.PoissonTail(load, cells)
	}
	sum, all := 0.0, o.spread(buckets)
	for _, s := range all {
		sum += stat.PoissonTail(load*s, cells)
	}
	return sum / float64(len(all))
}

// lines are the sizes of buckets that a search tries, in words: multiples of a cache line, and sizes below a cache line
// for few keys. The usual best sizes come first, so that the search abandons the others early.
var lines = []int{24, 32, 16, 40, 48, 56, 64, 72, 80, 96, 112, 8, 1, 2, 3, 4, 5, 6, 7}

// lineBits is the largest index of a bucket, in bits, if Config.Bucket is 0. It is less than one cache line, so that a
// query counts bits in one line only.
const lineBits = 511

// search returns the smallest geometry that meets the order, or false if no geometry of at most most bits does. It
// tries all remainders, sizes of buckets, numbers of cells and sizes of extensions, under the bounds of section IV of
// the paper:
//
//	Pr[O_l > J_l] <= 2·Binotail(B, Poissontail(n/B, W_{l-1}), J_l)    l = 2, 3: each at most 0.45·P_o
//	Pr[O_4 > 0]   <= B·Binotail(n, 1/B, W_3)                                     at most 0.1·P_o
//
// It abandons a branch if the buckets and the mean number of extensions have more bits than the best geometry so far.
func (o order) search(most float64) (Geometry, bool) {
	s := searched{order: o, bits: math.Nextafter(most, math.Inf(1))}
	for r := 1; r+o.form.Growth <= MaxRemainder; r++ {
		lambda := -math.Log1p(-o.fpr) * math.Ldexp(1, r) // fpr = 1-exp(-λ/2^r), see Geometry.FPR
		if lambda > o.lambda {
			break
		}
		// Much shorter chains waste bits of the index: try only the four longest remainders.
		if lambda > o.lambda/16 || r+o.form.Growth == MaxRemainder {
			for _, w := range o.words {
				s.tryBuckets(r, w, lambda)
			}
		}
	}
	return s.best, s.best.Buckets > 0
}

// searched is a search and its best geometry so far.
type searched struct {
	order
	best Geometry
	bits float64 // size of best, or more than the limit if nothing was found yet
}

// tryBuckets tries all numbers of cells of a bucket of one size.
func (s *searched) tryBuckets(r, words int, lambda float64) {
	n := float64(s.form.Capacity)
	for cells := 1; ; cells++ {
		g := s.form
		g.Remainder, g.Cells[0] = r, cells
		left := 64*words - cells*(1+g.cellBits()) // bits for chains and the pointer
		if g.cellBits() > 63 || left < 1 {
			return
		}
		if left+cells > s.index {
			continue
		}
		for { // a larger pool needs a longer pointer, which leaves fewer chains, which needs more buckets
			if g.Chains = left - g.pointerBits(1); g.Chains < 1 {
				return
			}
			mean := lambda * float64(g.Chains)
			g.Buckets = uint64(math.Ceil(n / mean))
			load := n / float64(g.Buckets)
			if float64(cells) > load+6*math.Sqrt(load)+6 { // almost no bucket would use the last cells
				return
			}
			if float64(cells) < load-1.2*math.Sqrt(load)-1 || float64(g.Buckets)*float64(64*words) >= s.bits {
				break
			}
			if g.Buckets > 1 {
				tail := s.overfullShare(g.Buckets, load, cells)
				pool := math.Floor(float64(g.Buckets) * tail) // at least: an extension has a word or more
				if s.extended > 0 && tail > s.extended || float64(g.Buckets)*float64(64*words)+64*pool >= s.bits {
					break
				}
			}
			had := g.pointerBits(1)
			if g.Pools[1] = s.poolSize(g, cells); g.pointerBits(1) <= had {
				g.Chains = left - g.pointerBits(1)
				s.tryExtensions(g, s.deepest(g))
				break
			}
		}
	}
}

// tryExtensions tries all sizes of extensions for given buckets. No bucket has more cells than deepest.
func (s *searched) tryExtensions(g Geometry, deepest int) {
	if g.Pools[1] == 0 {
		s.keepIfSmaller(g)
		return
	}

	for words := 1; ; words++ {
		if float64(g.Buckets)*float64(64*g.levelWords(0))+float64(g.Pools[1])*float64(64*words) >= s.bits {
			return
		}
		e := g
		e.Pools[2] = g.Pools[1] // for the longest pointer, since the second pool is at most as large as the first
		if e.Cells[1] = (64*words - e.pointerBits(2)) / (1 + e.cellBits()); e.Cells[1] < 1 {
			continue
		}
		all := e.Cells[0] + e.Cells[1]
		if e.Cells[2] = deepest - all; e.Cells[2] > 0 {
			e.Pools[2] = s.poolSize(e, all)
		}
		if e.Cells[2] <= 0 || e.Pools[2] == 0 {
			e.Cells[2], e.Pools[2] = 0, 0
		}
		if e.Pools[2] <= e.Pools[1] {
			s.keepIfSmaller(e)
		}
		if e.Pools[2] == 0 {
			return
		}
	}
}

// keepIfSmaller keeps the geometry if it is the smallest so far.
func (s *searched) keepIfSmaller(g Geometry) {
	if bits := float64(g.Bits()); bits < s.bits && g.FPR(g.Capacity) <= s.fpr*(1+1e-9) && g.validate() == nil {
		s.best, s.bits = g, bits
	}
}

// poolSize returns the number of extensions for buckets with more keys than cells, so that they suffice at the capacity
// and, since pools double with the filter, at all later capacities.
func (s *searched) poolSize(g Geometry, cells int) (size uint64) {
	load := float64(g.Capacity) / float64(g.Buckets)
	for doubled := range g.Growth + 1 {
		b := g.Buckets << doubled
		want := b
		switch {
		case b > 1:
			want = stat.UpperQuantile(b, s.overfullShare(b, load, cells), s.overflow*0.45/2)
		case s.enough(g, cells): // the only bucket has all keys
			want = 0
		}
		size = max(size, (want+1<<doubled-1)>>doubled)
	}
	return size
}

// deepest returns a number of cells that a bucket exceeds with a probability of at most 0.1·P_o.
func (s *searched) deepest(g Geometry) int {
	low, step := g.Cells[0], 4
	for !s.enough(g, low+step) { // double the step until the number lies within it, then search there
		low, step = low+step+1, 2*step
	}
	return low + sort.Search(step, func(i int) bool { return s.enough(g, low+i) })
}

// enough reports whether the probability that a bucket has more keys than cells is at most 0.1·P_o.
func (o *order) enough(g Geometry, cells int) bool {
	n, b := g.Capacity<<g.Growth, float64(g.Buckets)*math.Ldexp(1, g.Growth)
	p := 1 / b
	if o.spread != nil {
		p *= slices.Max(o.spread(g.Buckets)) * float64(n) / float64(o.most)
		n = o.most
	}
	return uint64(cells) >= n || !stat.TailExceeds(uint64(cells)+1, n, min(p, 1), o.overflow*0.1/b)
}
