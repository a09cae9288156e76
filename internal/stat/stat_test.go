package stat

import (
	"math"
	"math/big"
	"testing"
)

func TestBinomialMean(t *testing.T) {
	// The mean of q^J is known: (1-p+pq)^n.
	for _, n := range []uint64{0, 1, 10, 1000, 1_000_000, 5_000_000_000, 1 << 37} {
		for _, load := range []float64{0.5, 20, 60} {
			p, q := min(1, load/max(1, float64(n))), 0.9
			got := BinomialMean(n, p, func(j uint64) float64 { return math.Pow(q, float64(j)) })
			want := math.Pow(1-p+p*q, float64(n))
			if n > 1<<20 {
				want = math.Exp(-load * (1 - q))
			}
			if math.Abs(got/want-1) > 1e-6 {
				t.Errorf("n=%d p=%g: %g, want %g", n, p, got, want)
			}
		}
	}
	// A file may state any number of keys. Every result must be computed quickly and lie in [0, 1].
	for _, n := range []uint64{1 << 40, 1 << 63, math.MaxUint64} {
		for _, p := range []float64{1, 0.5, 1e-6, 1e-18} {
			calls := 0
			got := BinomialMean(n, p, func(j uint64) float64 { calls++; return 1 })
			if !(math.Abs(got-1) < 1e-9) || calls > 9000 {
				t.Errorf("n=%d p=%g: %g after %d calls", n, p, got, calls)
			}
		}
	}
}

func TestInterval(t *testing.T) {
	// Values of Clopper and Pearson's interval from textbooks.
	for _, c := range []struct {
		x, n      uint64
		low, high float64
	}{{0, 10, 0, 0.3085}, {10, 10, 0.6915, 1}, {5, 10, 0.1871, 0.8129}, {0, 0, 0, 1}, {1, 100, 0.000253, 0.0545}} {
		low, high := Interval(c.x, c.n, 0.95)
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.x, c.n, low, high, c.low, c.high)
		}
	}
}

func TestUpperTail(t *testing.T) {
	for _, c := range []struct {
		x, n uint64
		p    float64
		want float64
	}{
		{0, 10, 0.5, 1}, {10, 10, 0.5, 1. / 1024}, {1, 10, 0.1, 1 - math.Pow(0.9, 10)},
		{11, 10, 0.5, 0}, {1, 10, 0, 0}, {3, 10, 1, 1},
	} {
		if got := UpperTail(c.x, c.n, c.p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("UpperTail(%d, %d, %g) = %g, want %g", c.x, c.n, c.p, got, c.want)
		}
	}
}

// TestUpperTailExact compares UpperTail with exact sums of fractions.
func TestUpperTailExact(t *testing.T) {
	sizes := []int64{1, 2, 15, 16, 17, 40, 120}
	if testing.Short() {
		sizes = sizes[:6]
	}
	for _, n := range sizes {
		for _, p := range []float64{1e-9, 0.001, 0.1, 0.5, 0.7, 0.999} {
			exact := new(big.Rat).SetFloat64(p)
			rest := new(big.Rat).Sub(big.NewRat(1, 1), exact)
			sum := new(big.Rat)
			for x := n; x >= 1; x-- {
				term := new(big.Rat).SetInt(new(big.Int).Binomial(n, x))
				term.Mul(term, power(exact, x))
				sum.Add(sum, term.Mul(term, power(rest, n-x)))
				want, _ := sum.Float64()
				if got := UpperTail(uint64(x), uint64(n), p); math.Abs(got-want) > 1e-11*want && want > 1e-300 {
					t.Errorf("UpperTail(%d, %d, %g) = %g, want %g", x, n, p, got, want)
				}
			}
		}
	}
}

func power(x *big.Rat, n int64) *big.Rat {
	e := big.NewInt(n)
	return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), e, nil), new(big.Int).Exp(x.Denom(), e, nil))
}

// TestUpperTailLarge uses values that are known for any n.
func TestUpperTailLarge(t *testing.T) {
	for _, n := range []uint64{1e6 + 1, 1e7 + 1, 1e9 + 1, 1e10 + 1, 1e12 + 1, 1e13 + 1, 1e18 + 1} {
		if n > 1e9+1 && n < 1e13 && testing.Short() {
			continue // sums of up to 10^6 terms
		}
		// The distribution is symmetric.
		if got := UpperTail((n+1)/2, n, 0.5); math.Abs(got-0.5) > 1e-8 {
			t.Errorf("at least half of %d: %g", n, got)
		}
		// The number of rare successes has a Poisson distribution, here with mean 20.
		want, term := 1.0, math.Exp(-20)
		for x := uint64(1); x < 60; x++ {
			want -= term
			term *= 20 / float64(x)
			if got := UpperTail(x, n, 20/float64(n)); math.Abs(got-want) > 2e-4*20/math.Sqrt(float64(n))+1e-12 {
				t.Errorf("%d of %d, mean 20: %g, Poisson %g", x, n, got, want)
			}
		}
		// For many trials the distribution is normal, except for the third moment.
		for _, p := range []float64{0.5, 0.01, 0.001} {
			sd := math.Sqrt(float64(n) * p * (1 - p))
			for z := -6.0; z <= 6; z += 0.25 {
				x := uint64(float64(n)*p + z*sd)
				want := math.Erfc((float64(x)-0.5-float64(n)*p)/sd/math.Sqrt2) / 2
				if got := UpperTail(x, n, p); math.Abs(got-want) > 0.2/sd+1e-9 || got < 0 || got > 1 {
					t.Errorf("%d of %d, p=%g: %g, normal %g", x, n, p, got, want)
				}
			}
		}
	}
}

// TestIntervalLarge checks that the ends of an interval have the tails that define them.
func TestIntervalLarge(t *testing.T) {
	for _, n := range []uint64{1000, 1e6, 1e9, 1e10, 1e12} {
		if n > 1e9 && testing.Short() {
			continue // sums of up to 10^6 terms
		}
		for _, p := range []float64{0.5, 0.01, 1e-6} {
			x := uint64(float64(n) * p)
			low, high := Interval(x, n, 0.95)
			above, below := UpperTail(x, n, low), 1-UpperTail(x+1, n, high)
			if x > 0 && math.Abs(above-0.025) > 1e-4 || math.Abs(below-0.025) > 1e-4 {
				t.Errorf("%d of %d: %g to %g, tails %g and %g", x, n, low, high, above, below)
			}
		}
	}
}

// TestTailExceeds compares TailExceeds with UpperTail, on both sides of the mean, at limits around the tail.
func TestTailExceeds(t *testing.T) {
	for _, n := range []uint64{1, 2, 10, 1000, 1e6, 1 << 50} {
		for _, p := range []float64{0, 1e-12, 1e-9, 0.003, 0.3, 0.9, 1} {
			mean := float64(n) * p
			spread := math.Sqrt(mean*(1-p)) + 1
			for z := -6.0; z < 12; z += 0.7 {
				x := uint64(max(0, mean+z*spread))
				tail := UpperTail(x, n, p)
				limits := []float64{0, 1e-300, 1e-15, 0.01, 0.9, 0.5 * tail, math.Nextafter(tail, 0), tail, 2 * tail}
				for _, limit := range limits {
					if limit < 1 && TailExceeds(x, n, p, limit) != (tail > limit) {
						t.Errorf("%d of %d, p=%g: the tail is %g, and the limit %g", x, n, p, tail, limit)
					}
				}
			}
		}
	}
}

// TestUpperQuantile compares the tails at the quantile and at the number before it.
func TestUpperQuantile(t *testing.T) {
	for _, n := range []uint64{1, 5, 1000, 1e6, 1e9} {
		for _, p := range []float64{1e-9, 1e-4, 0.02, 0.5, 0.99} {
			for _, tail := range []float64{0.1, 1e-5, 2e-11, 1e-16} {
				j := UpperQuantile(n, p, tail)
				mean := uint64(float64(n) * p)
				if j < n && UpperTail(j+1, n, p) > tail {
					t.Errorf("n=%d, p=%g: %d, tail %g, want %g", n, p, j, UpperTail(j+1, n, p), tail)
				}
				few := float64(n)*p*(1-p) <= 9e6 // otherwise the result is an upper bound
				if few && j > mean && UpperTail(j, n, p) <= tail {
					t.Errorf("n=%d, p=%g, tail %g: %d is not the least", n, p, tail, j)
				}
			}
		}
	}
}
