package paper

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sample collects numbers. Its method mean returns their mean and the standard error of the mean.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(x float64) { s.n, s.sum, s.squares = s.n+1, s.sum+x, s.squares+x*x }

func (s *sample) mean() (mean, sigma float64) {
	mean = s.sum / s.n
	return mean, math.Sqrt(max(0, s.squares/s.n-mean*mean) / (s.n - 1))
}

// hold fails unless got differs from the mean of the sample by at most 4.5 standard errors plus slack, the error of the
// theory.
func (s *sample) hold(t *testing.T, what string, got, slack float64) {
	t.Helper()
	if mean, sigma := s.mean(); math.Abs(got-mean) > 4.5*sigma+slack {
		t.Errorf("%s: theory %.6f, simulation %.6f ± %.6f", what, got, mean, sigma)
	}
}

// greedy simulates section 4: groups in turn try t times k random functions. It adds the fill after each group to the
// sample of the group. With k = 1 and one key a group it simulates the balls of section 3.
//
//go:norace
func greedy(n, m, k, g, t int, r *rand.PCG, fills []sample) {
	seen := make([]uint32, m) // the try that last hit the bit, or set
	const set = math.MaxUint32
	ones, try := 0, uint32(0)
	for j := range g {
		throws := ((j+1)*n/g - j*n/g) * k
		fewest, best := throws+1, *r
		for range t {
			try++
			before, fresh := *r, 0
			for range throws {
				if bit := &seen[r.Uint64()>>32*uint64(m)>>32]; *bit < try {
					*bit = try
					fresh++
				}
			}
			if fresh < fewest {
				fewest, best = fresh, before
			}
		}
		for range throws {
			seen[best.Uint64()>>32*uint64(m)>>32] = set
		}
		ones += fewest
		fills[j].add(float64(ones) / float64(m))
	}
}

// trials returns the fills after each group. They come from the given number of runs of greedy for each of four seeds.
func trials(n, m, k, g, t, runs int) []sample {
	fills := make([]sample, g)
	for seed := range uint64(4) {
		r := rand.NewPCG(seed, uint64(g)<<32|uint64(t))
		for range runs / 4 {
			greedy(n, m, k, g, t, r, fills)
		}
	}
	return fills
}

// exactBins returns E[Y_n]/m from the exact law of Y.
//
//go:norace
func exactBins(n, m, t int) (mean float64) {
	p, up := make([]float64, n+1), make([]float64, n+1)
	for y := range up {
		up[y] = math.Pow(1-float64(y)/float64(m), float64(t))
	}
	p[0] = 1
	for i := range n {
		for y := i + 1; y > 0; y-- {
			p[y] = p[y]*(1-up[y]) + p[y-1]*up[y-1]
		}
		p[0] = 0
	}
	for y, q := range p {
		mean += q * float64(y) / float64(m)
	}
	return mean
}
