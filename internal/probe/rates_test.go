package probe

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestRates compares the false-positive rate of Next with the rate of independent probes, in small filters of few keys,
// where related probes of two keys show first. It has two parts, since the rate is E(fill^k) if absent keys are
// independent of the filter: the mean of fill^k over filters, and the rate of absent keys over the fill^k of the
// filter.
//
// Absent keys are sampled with two probes that are set, which leaves k - 2: x0 and x1 are random words of set places,
// and Hi = x1 - rotl(9·x0, 25). Thus a few thousand keys suffice to measure rates down to 1e-8.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		keys, m uint64
		k       int
		filters int
		asked   int // absent keys per filter
	}{
		{1, 64, 4, 1000, 500},
		{1, 63, 3, 1000, 500},
		{1, 100, 3, 1000, 500},
		{2, 64, 20, 15000, 0},
		{1, 64, 40, 15000, 0},
		{1, 64, 64, 15000, 0},
		{3, 70, 14, 2000, 500},
		{5, 127, 10, 1000, 500},
		{10, 128, 8, 300, 2000},
		{10, 3000, 3, 100, 10000},
		{100, 1025, 7, 50, 10000},
		{1000, 1 << 16, 4, 20, 20000},
		{10, 1 << 20, 3, 20, 20000},
	} {
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 42))
			set := make([]bool, c.m)
			fill := func(next func(x, hi uint64) uint64) (places []uint64) {
				clear(set)
				for range c.keys {
					x, hi := r.Uint64(), r.Uint64()
					for range c.k {
						if at := Position(x, c.m); !set[at] {
							set[at] = true
							places = append(places, at)
						}
						x = next(x, hi)
					}
				}
				return places
			}

			// The mean of fill^k, of both and of independent probes.
			var next, independent, query sums
			for range c.filters {
				places := fill(func(_, _ uint64) uint64 { return r.Uint64() })
				independent.add(math.Pow(float64(len(places))/float64(c.m), float64(c.k)))

				places = fill(Next)
				share := math.Pow(float64(len(places))/float64(c.m), float64(c.k))
				next.add(share)

				if c.asked > 0 {
					share *= float64(c.m) / float64(len(places)) * float64(c.m) / float64(len(places))
					query.add(hits(r, set, places, c.k, c.asked)/float64(c.asked) - share)
				}
			}
			if z := (next.mean() - independent.mean()) / math.Hypot(next.sigma(), independent.sigma()); math.Abs(z) > 5 {
				t.Errorf("%+v, seed %d: E(fill^k) is %.4g, of independent probes %.4g, %.1f sigma off", c, seed, next.mean(),
					independent.mean(), z)
			}
			if z := query.mean() / query.sigma(); c.asked > 0 && math.Abs(z) > 5 {
				t.Errorf("%+v, seed %d: absent keys are present by %.4g too often, %.1f sigma", c, seed, query.mean(), z)
			}
		}
	}
}

// hits returns the number of absent keys with k set probes among asked keys whose first two probes are set.
func hits(r *rand.Rand, set []bool, places []uint64, k, asked int) (n float64) {
	m := uint64(len(set))
	word := func() uint64 { // a random word whose position is set
		at := places[r.IntN(len(places))]
		least, rest := bits.Div64(at, 0, m)
		if rest > 0 {
			least++
		}
		return least + r.Uint64N(math.MaxUint64/m)
	}
	for range asked {
		x, second := word(), word()
		hi := second - Next(x, 0)
		all := true
		for i := 0; i < k && all; i++ {
			all = set[Position(x, m)]
			x = Next(x, hi)
		}
		if all {
			n++
		}
	}
	return n
}

// sums holds the number, the sum and the sum of squares of samples.
type sums struct{ n, sum, squares float64 }

func (s *sums) add(v float64) {
	s.n++
	s.sum += v
	s.squares += v * v
}

func (s *sums) mean() float64 { return s.sum / s.n }

// sigma returns the standard deviation of the mean.
func (s *sums) sigma() float64 { return math.Sqrt((s.squares/s.n - s.mean()*s.mean()) / s.n) }
