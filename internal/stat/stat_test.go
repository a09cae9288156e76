package stat

import (
	"math"
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
	// A file may claim any number of keys: no answer may take long or leave [0, 1].
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
	// Values of Clopper and Pearson's interval as textbooks print them.
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
	}{{0, 10, 0.5, 1}, {10, 10, 0.5, 1. / 1024}, {1, 10, 0.1, 1 - math.Pow(0.9, 10)}, {11, 10, 0.5, 0}, {1, 10, 0, 0}, {3, 10, 1, 1}} {
		if got := UpperTail(c.x, c.n, c.p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("UpperTail(%d, %d, %g) = %g, want %g", c.x, c.n, c.p, got, c.want)
		}
	}
}
