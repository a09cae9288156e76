package figure

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bloomery/bloomery/internal/stat"
)

// Tests of the intervals of rows against gonum, which the main module does not use. Package stat has its own tests.

// TestIntervalGonum compares Interval with the inverse of gonum's incomplete beta function. gonum's own error grows
// with n: its p^a·q^b/B(a, b) subtracts logarithms of the size of n. TestIntervalExact of package stat shows which of
// the two is right.
func TestIntervalGonum(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9} {
		for _, x := range []uint64{
			0, 1, 2, 5, 40, n / 1e6, n / 1000, n / 10, n / 3, n / 2, n - n/10, n - n/1e6, n - 3, n - 1, n,
		} {
			if x > n {
				continue
			}
			for _, level := range []float64{0, 0.5, 0.9, 0.95, 0.999} {
				tail := (1 - level) / 2
				wantLow, wantHigh := 0.0, 1.0
				if x > 0 {
					wantLow = mathext.InvRegIncBeta(float64(x), float64(n-x)+1, tail)
				}
				if x < n { // 1-tail would round the tail
					wantHigh = 1 - mathext.InvRegIncBeta(float64(n-x), float64(x)+1, tail)
				}
				low, high := stat.Interval(x, n, level)
				// The complement of an end near 1 is known only to 2^-53.
				tol := 1e-13*float64(n) + 1e-12
				if math.Abs(low-wantLow) > tol*wantLow || math.Abs(high-wantHigh) > tol*wantHigh+2e-16 {
					t.Errorf("%d of %d, level %g: %g to %g, gonum %g to %g", x, n, level, low, high, wantLow, wantHigh)
				}
			}
		}
	}
}

// TestErrorsGonum compares the quantiles of Student's t distribution with gonum's.
func TestErrorsGonum(t *testing.T) {
	for _, n := range []int{2, 3, 8, 32, 1000} {
		for _, level := range []float64{0, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9} {
			got := stat.StudentErrors(n, level)
			want := (distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}).Quantile((1 + level) / 2)
			if math.Abs(got-want) > 1e-6*want+1e-12 {
				t.Errorf("%d values, level %g: %g, gonum %g", n, level, got, want)
			}
		}
	}
	for n := 2; n < 1e8; n = n*3/2 + 1 {
		nu := float64(n - 1)
		got := StandardErrors(n)
		if want := (distuv.StudentsT{Sigma: 1, Nu: nu}).Quantile(0.975); math.Abs(got/want-1) > 1e-12+1e-15*nu {
			t.Errorf("%d values: %g, gonum %g", n, got, want)
		}
	}
}

// TestMeanInterval uses quantiles of Student's t from textbooks, and values whose standard error is known.
func TestMeanInterval(t *testing.T) {
	for n, want := range map[int]float64{2: 12.706, 5: 2.776, 11: 2.228, 101: 1.984, 100_001: 1.960} {
		if got := StandardErrors(n); math.Abs(got-want) > 5e-4 {
			t.Errorf("%d values: %.4f, want %.3f", n, got, want)
		}
	}
	v := []float64{1, 2, 3, 4, 5} // variance 2.5, standard error √0.5
	mean, low, high := MeanInterval(v)
	if half := 2.776 * math.Sqrt(0.5); mean != 3 || math.Abs(high-mean-half) > 1e-3 || math.Abs(mean-low-half) > 1e-3 {
		t.Errorf("%g, %g to %g", mean, low, high)
	}
	if mean, low, high := MeanInterval(v[4:]); mean != 5 || low != 5 || high != 5 {
		t.Errorf("one value: %g, %g to %g", mean, low, high)
	}
}
