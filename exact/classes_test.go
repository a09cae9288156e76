package exact

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLog2Choose compares with floating-point arithmetic, and for few keys with an exact sum.
func TestLog2Choose(t *testing.T) {
	gamma := func(n uint64) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v / math.Ln2
	}
	for _, n := range []uint64{0, 1, 2, 3, 10, 100, 12345, 1e6, 1e9, MaxKeys} {
		for _, k := range []uint64{0, 1, 2, n / 1000, n / 3, n / 2, n} {
			if k > n {
				continue
			}
			got := math.Ldexp(float64(log2Choose(n, k)), -outBits)
			want := gamma(n) - gamma(k) - gamma(n-k)
			if math.Abs(got-want) > .02+1e-9*want+float64(n)*1e-13 {
				t.Errorf("log2 C(%d, %d) = %g, want %g", n, k, got, want)
			}
		}
	}
}

// TestChoose compares the choice with the best of all sets of codes, for few partitions of four densities.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 40 {
		var partitions []tally
		for range 1 + r.IntN(30) {
			n := uint64(math.Exp(r.Float64() * 12))
			d := []float64{0, .004, .1, .4, .97}[r.IntN(5)]
			partitions = append(partitions, tally{n, uint64(float64(n) * d)})
		}
		codes, index := choose(partitions)
		size := func(codes []code) uint64 {
			total, _ := missed(partitions, codes)
			return total
		}
		if !slices.IsSorted(codes) || len(index) != len(partitions) {
			t.Fatalf("%v, %v", codes, index)
		}
		got := size(codes)
		for i, p := range partitions {
			if c := codes[index[i]]; p.cost(c) != p.cost(cheapest(p, codes)) {
				t.Errorf("partition %d has code %d", i, c)
			}
		}
		var used []code
		for _, p := range partitions {
			if c := cheapest(p, allCodes); !slices.Contains(used, c) {
				used = append(used, c)
			}
		}
		best := uint64(math.MaxUint64)
		for set := 1; set < 1<<min(len(used), 12); set++ {
			var some []code
			for i, c := range used {
				if set>>i&1 == 1 {
					some = append(some, c)
				}
			}
			best = min(best, size(some))
		}
		if got > best+best/100 {
			t.Errorf("round %d: %d bits with %v, the best choice takes %d", round, got/costBit, codes, best/costBit)
		}
	}
}

func TestCost(t *testing.T) {
	for _, tt := range []struct {
		density float64
		want    code
	}{
		{.0001, 2 * 13}, {.001, 2 * 9}, {.01, 2 * 6}, {.1, 2 * 3}, {.3, 2 * 1}, {.45, 0}, {.9, 2*3 + 1},
		{0, 64}, {1, 65},
	} {
		n := uint64(1e7)
		if got := cheapest(tally{n, uint64(float64(n) * tt.density)}, allCodes); got != tt.want {
			t.Errorf("density %g: code %d, want %d", tt.density, got, tt.want)
		}
	}
}
