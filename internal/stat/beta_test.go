package stat_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/bloomery/bloomery/internal/stat"
)

var levels = []float64{0, 0.5, 0.9, 0.95, 0.999, 1 - 1e-9, 1 - 1e-15}

// TestIntervalExact computes the tails on both sides of each end of the interval with 300 bits. The tail that defines
// the end must lie between them. x or n-x is small, so that few terms have to be added for any n.
func TestIntervalExact(t *testing.T) {
	const margin = 1e-13
	for _, n := range []uint64{1, 2, 3, 10, 100, 1000, 1e6, 1e9, 1e12, 1e15} {
		for _, x := range []uint64{0, 1, 2, 5, 40, 300, n / 2, n - 300, n - 40, n - 5, n - 2, n - 1, n} {
			if x > n || min(x, n-x) > 1000 {
				continue
			}
			for _, level := range levels {
				low, high := stat.Interval(x, n, level)
				tail := (1 - level) / 2
				ends := func(name string, p float64, tailAt func(p float64) float64, rising bool) {
					// An end near 1 has the rounding error of its complement.
					e := margin*math.Min(p, 1-p) + 2e-16*p
					if p < 0.5 {
						e = margin * p
					}
					a, b := tailAt(p-e), tailAt(math.Min(1, p+e))
					if !rising {
						a, b = b, a
					}
					if a > tail*(1+1e-15) || b < tail*(1-1e-15) {
						t.Errorf("%d of %d, level %g: %s end %g: tails %g and %g around it", x, n, level, name, p, a, b)
					}
				}
				if x > 0 {
					ends("low", low, func(p float64) float64 { return tailExact(x, n, p) }, true)
				} else if low != 0 {
					t.Errorf("0 of %d: low end %g", n, low)
				}
				if x < n {
					ends("high", high, func(p float64) float64 { return tailExact(n-x, n, -p) }, false)
				} else if high != 1 {
					t.Errorf("%d of %d: high end %g", n, n, high)
				}
			}
		}
	}
}

// tailExact returns the probability that at least x of n trials succeed. The probability of success is p, or 1+p if p
// is below 0. It adds the terms of the shorter side.
func tailExact(x, n uint64, p float64) float64 {
	float := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	a, b := float(p), float(1)
	if p < 0 {
		a.Add(float(1), a)
	}
	b.Sub(b, a)
	below := x <= n-x
	first, terms := uint64(0), x // for the failures: 0 to x-1 trials succeed
	if !below {
		first, terms = x, n-x+1
	}
	// The term i is C(n, i)·a^i·b^(n-i). Start at the end that is 0 or n.
	sum := float(0)
	i := first
	if !below {
		i, a, b = 0, b, a // n-i trials succeed
	}
	term := pow(b, n)
	for range terms {
		sum.Add(sum, term)
		if i == n || b.Sign() == 0 {
			break
		}
		term.Mul(term, new(big.Float).Quo(a, b))
		term.Mul(term, float(1).SetUint64(n-i))
		term.Quo(term, float(1).SetUint64(i+1))
		i++
	}
	if below {
		sum.Sub(float(1), sum)
	}
	v, _ := sum.Float64()
	return v
}

func pow(x *big.Float, n uint64) *big.Float {
	square, y := new(big.Float).Set(x), new(big.Float).SetPrec(300).SetFloat64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			y.Mul(y, square)
		}
		square.Mul(square, square)
	}
	return y
}

// TestIntervalTail compares the tails at the ends with sums of binomial terms, for many successes in many trials.
func TestIntervalTail(t *testing.T) {
	for _, n := range []uint64{1000, 1e5, 1e7, 1e9, 1e12} {
		for _, share := range []float64{1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.8, 0.99999} {
			x := uint64(float64(n) * share)
			if n >= 1e9 && testing.Short() {
				continue // limits sums to 10^6 terms
			}
			for _, level := range []float64{0.5, 0.95, 1 - 1e-9} {
				low, high := stat.Interval(x, n, level)
				tail := (1 - level) / 2
				// UpperTail is exact to 1e-8, and the end of the interval is rounded.
				tol := 2e-8 + 7e-16*math.Sqrt(float64(n)*share/(1-share))
				if got := stat.UpperTail(x, n, low); x > 0 && math.Abs(got/tail-1) > tol {
					t.Errorf("%d of %d, level %g: low end %g has the tail %g", x, n, level, low, got)
				}
				if got := 1 - stat.UpperTail(x+1, n, high); math.Abs(got-tail) > tol {
					t.Errorf("%d of %d, level %g: high end %g has the tail %g", x, n, level, high, got)
				}
			}
		}
	}
}

// TestIntervalOrder checks that the ends are ordered, within [0, 1], and symmetric in successes and failures, for all
// numbers.
func TestIntervalOrder(t *testing.T) {
	for _, n := range []uint64{1, 7, 1e6, 1e12, 1 << 53, 1 << 63, math.MaxUint64} {
		for _, x := range []uint64{0, 1, n / 3, n / 2, n - n/1e6, n} {
			for _, level := range append(levels, 1) {
				low, high := stat.Interval(x, n, level)
				if share := float64(x) / float64(n); !(0 <= low && low <= share && share <= high && high <= 1) {
					t.Errorf("%d of %d, level %g: %g to %g", x, n, level, low, high)
				}
				mirrorLow, mirrorHigh := stat.Interval(n-x, n, level)
				if math.Abs(low+mirrorHigh-1) > 1e-15 || math.Abs(high+mirrorLow-1) > 1e-15 {
					t.Errorf("%d of %d, level %g: %g to %g, mirrored %g to %g", x, n, level, low, high, mirrorLow, mirrorHigh)
				}
			}
		}
	}
}

// TestStudentErrors compares levels other than 0.95 with the closed form for two values.
func TestStudentErrors(t *testing.T) {
	for _, level := range []float64{0, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6} {
		got, want := stat.StudentErrors(2, level), math.Tan(level/2*math.Pi)
		if math.Abs(got-want) > 1e-6*want+1e-12 {
			t.Errorf("2 values, level %g: %g, want %g", level, got, want)
		}
	}
	if got, want := stat.StudentErrors(2, 0.999), math.Tan(0.4995*math.Pi); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("2 values, level 0.999: %g, want %g", got, want)
	}
}

// TestStandardErrors compares StudentErrors with closed forms and with the limit, the quantile of the normal
// distribution plus (z³+z)/(4ν) (Abramowitz and Stegun, 26.7.5). The lab compares it with gonum's quantile of Student's
// t distribution.
func TestStandardErrors(t *testing.T) {
	const z = 1.9599639845400542355
	for n := 2; n < 1e8; n = n*3/2 + 1 {
		nu := float64(n - 1)
		got := stat.StudentErrors(n, 0.95)
		if want := z + (z*z*z+z)/(4*nu); math.Abs(got/want-1) > 2/(nu*nu)+2e-14 {
			t.Errorf("%d values: %g, by expansion %g", n, got, want)
		}
	}
	if got, want := stat.StudentErrors(2, 0.95), math.Tan(0.475*math.Pi); math.Abs(got/want-1) > 1e-14 {
		t.Errorf("2 values: %g, want %g", got, want)
	}
	if got, want := stat.StudentErrors(3, 0.95), 0.95*math.Sqrt(2/(1-0.95*0.95)); math.Abs(got/want-1) > 1e-14 {
		t.Errorf("3 values: %g, want %g", got, want)
	}
}
