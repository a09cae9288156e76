package paper

import "math"

// The exact laws of the model of theory.go, which has cheap approximations. Their time grows with the square of the
// throws: 50 ms for 6000.

// NewBits returns the law of the number of new bits that random throws set if ones of m bits are set before: p[w] is
// the probability of w new bits, w = 0 ... throws.
//
//go:norace
func NewBits(m, ones, throws int) (p []float64) {
	p = make([]float64, throws+1)
	p[0] = 1
	for i := range throws {
		for w := min(i+1, m-ones); w >= 0; w-- {
			p[w] *= float64(ones+w) / float64(m)
			if w > 0 {
				p[w] += p[w-1] * float64(m-ones-w+1) / float64(m)
			}
		}
	}
	return p
}

// Fewest returns the mean of the smallest of t >= 1 independent numbers with the law p over 0, 1, 2, ...
func Fewest(p []float64, t float64) (mean float64) {
	below := 0.0 // the probability of less than w
	for w := 1; w < len(p); w++ {
		below += p[w-1]
		mean += math.Exp(t * math.Log1p(-min(1, below)))
	}
	return mean
}
