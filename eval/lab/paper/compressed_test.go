package paper

import (
	"math"
	"testing"
)

// TestCompressed compares with rows of Mitzenmacher's Tables I and II: 8 and 16 bits a key after compression.
func TestCompressed(t *testing.T) {
	for _, c := range []struct {
		bits       float64
		k          int
		size, rate float64
	}{
		{8, 6, 8, 0.0216}, {14, 2, 7.923, 0.0177}, {92, 1, 7.923, 0.0108},
		{16, 11, 16, 0.000459}, {28, 4, 15.846, 0.000314}, {48, 3, 15.829, 0.000222},
	} {
		rate, size := Compressed(c.bits, c.k)
		if math.Abs(rate/c.rate-1) > 0.005 || math.Abs(size/c.size-1) > 0.005 {
			t.Errorf(
				"%g bits, k=%d: rate %.4g and %.4f bits, published %g and %g",
				c.bits,
				c.k,
				rate,
				size,
				c.rate,
				c.size,
			)
		}
		// Conversely, a filter of that rate and size takes no more bits.
		bits, k, ok := CompressTo(rate, size*(1+1e-9))
		if again, _ := Compressed(bits, k); !ok || bits > c.bits*(1+1e-9) || math.Abs(again/rate-1) > 1e-9 {
			t.Errorf("rate %g in %g bits: %g bits with k=%d, %v; want at most %g", rate, size, bits, k, ok, c.bits)
		}
	}
}

// TestCompressTo goes from no compression to more than is possible.
func TestCompressTo(t *testing.T) {
	const rate = 0.01
	last := 0.0
	for _, c := range []struct {
		size float64
		k    int
	}{{12, 7}, {9.6, 7}, {9.5, 4}, {9, 2}, {8.1, 1}} {
		bits, k, ok := CompressTo(rate, c.size)
		got, size := Compressed(bits, k)
		if !ok || k != c.k || size > c.size || math.Abs(got/rate-1) > 1e-9 || bits < last {
			t.Errorf("to %g bits a key: %g with k=%d compress to %g, rate %g", c.size, bits, k, size, got)
		}
		last = bits
	}
	if bits, k, ok := CompressTo(rate, 8); ok || !math.IsInf(bits, 1) {
		t.Errorf("8 bits a key at 1%%: %g, k=%d", bits, k)
	}
	if Entropy(0) != 0 || Entropy(1) != 0 || Entropy(0.5) != 1 {
		t.Error("entropy of 0, 1 and 1/2")
	}
}
