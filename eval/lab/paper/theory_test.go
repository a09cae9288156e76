package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestTheoryBins compares the balls of section 3 with the figures of the paper, the exact law and simulation.
func TestTheoryBins(t *testing.T) {
	const n, m = 3000, 8000
	for _, c := range []struct {
		t                     int
		fill, linear, exactBy float64
	}{
		{1, 0.3127, 0.3127, 1e-12}, {2, 0.2727, 0.2638, 1e-6}, {5, 0.2048, 0.1693, 5e-6}, {10, 0.1513, 0.0977, 1e-5},
	} {
		fill, linear := BinsFill(n, m, c.t), BinsFillLinear(n, m, c.t)
		if math.Abs(fill-c.fill) > 5e-5 || math.Abs(linear-c.linear) > 5e-5 {
			t.Errorf("t=%d: %.5f, linear %.5f; want %v, %v", c.t, fill, linear, c.fill, c.linear)
		}
		if exact := exactBins(n, m, c.t); math.Abs(fill-exact) > c.exactBy || fill > exact+1e-12 ||
			linear > fill+1e-12 {
			t.Errorf("t=%d: %.7f, linear %.7f, exactly %.7f", c.t, fill, linear, exact)
		}
		sim := trials(n, m, 1, n, c.t, 200)
		for _, j := range []int{n / 10, n / 2, n} {
			sim[j-1].hold(t, fmt.Sprintf("t=%d, ball %d", c.t, j), BinsFill(j, m, c.t), c.exactBy)
		}
		if one := GroupFill(n, m, 1, n, c.t); math.Abs(one-fill) > 1e-9 {
			t.Errorf("t=%d: groups of one key and one function fill %.9f, balls %.9f", c.t, one, fill)
		}
	}
}

// TestTheoryGroup compares f_j with simulation (Fig. 5), and requires that the same simulation rejects f_1 = b/m, f_1 =
// b·k/m and independent throws.
func TestTheoryGroup(t *testing.T) {
	const n, m, k = 1000, 8000, 6
	for _, c := range []struct{ g, t, runs int }{
		{1, 1, 400}, {1, 20, 80}, {3, 10, 100}, {5, 5, 200}, {20, 1, 400}, {20, 50, 40}, {100, 5, 200}, {100, 20, 60},
		{300, 10, 60},
		{500, 50, 40}, {1000, 2, 200},
	} {
		sim := trials(n, m, k, c.g, c.t, c.runs)
		for _, j := range []int{1, c.g / 4, c.g / 2, c.g} {
			if j > 0 && (j == c.g || n%c.g == 0) {
				sim[j-1].hold(t, fmt.Sprintf("g=%d t=%d j=%d", c.g, c.t, j), GroupFill(j*n/c.g, m, k, j, c.t), 1.5e-4)
			}
		}
		mean, sigma := sim[c.g-1].mean()
		if paper := GroupFillPublished(n, m, k, c.g, c.t); c.g <= 20 && paper-mean < 10*sigma {
			t.Errorf("g=%d t=%d: independent throws have %.5f, simulation %.5f ± %.5f", c.g, c.t, paper, mean, sigma)
		}
		first, sigma := sim[0].mean()
		b := float64(n) / float64(c.g) / m
		if c.g <= 20 && (b*k-first < 10*sigma || first-b < 10*sigma) {
			t.Errorf("g=%d t=%d: f_1 is %.5f ± %.5f, b/m %.5f", c.g, c.t, first, sigma, b)
		}
	}
}

// TestTheoryNewBits compares the binomial approximation with the exact law of new bits, by the gain of t tries over
// one.
func TestTheoryNewBits(t *testing.T) {
	tries := []struct{ t, within float64 }{{1, 0}, {2, 0.01}, {10, 0.015}, {100, 0.03}, {1e4, 0.04}, {1e7, 0.08}}
	for _, m := range []int{1000, 3000} {
		for _, ones := range []int{0, m / 100, m / 4, m / 2, m * 9 / 10} {
			for _, throws := range []int{1, 2, 6, 12, 72, 300, m / 2, m, 2 * m} {
				law := NewBits(m, ones, throws)
				mean := Fewest(law, 1)
				for _, c := range tries {
					got := fresh(float64(m), float64(ones)/float64(m), float64(throws), c.t)
					want := Fewest(law, c.t)
					if math.Abs(got-want) > c.within*(mean-want)+1e-4 {
						t.Errorf(
							"%d throws on %d of %d bits, t=%g: %.5f new ones, by the exact law %.5f",
							throws,
							ones,
							m,
							c.t,
							got,
							want,
						)
					}
				}
			}
		}
	}
}

// TestTheoryPaper compares GroupFillPublished with the sums of section 4 as printed, but with f_0 = 0.
func TestTheoryPaper(t *testing.T) {
	const n, m, k, g = 120, 960, 6, 10
	for _, tries := range []int{1, 2, 30, 1000} {
		const bk = n / g * k
		f := 0.0
		for range g {
			sum, upTo, choose := 0.0, 0.0, 1.0
			for p := range bk + 1 {
				upTo += choose * math.Pow(f, float64(bk-p)) * math.Pow(1-f, float64(p))
				choose *= float64(bk-p) / float64(p+1)
				sum += math.Pow(max(0, 1-upTo), float64(tries))
			}
			f += sum / m
		}
		if got := GroupFillPublished(n, m, k, g, tries); math.Abs(got-f) > 1e-10 {
			t.Errorf("t=%d: %.12f, want %.12f", tries, got, f)
		}
	}
}

// TestTheoryStrides compares the long steps of climb with single ones, the scaling of largest with the normal law, and
// a large filter with a small one.
func TestTheoryStrides(t *testing.T) {
	for _, c := range [][3]int{{10_000, 8000, 2}, {300_000, 240_000, 5}, {300_000, 100, 10}, {100_000, 1000, 1000}} {
		f := 0.0
		for range c[0] {
			f += math.Pow(1-f, float64(c[2])) / float64(c[1])
		}
		if got := BinsFill(c[0], c[1], c[2]); math.Abs(got-f) > 2e-8 {
			t.Errorf("%v: %.10f, want %.10f", c, got, f)
		}
	}
	// The mean of the largest of 10 and of 1000 normal variables, in standard deviations.
	for c, want := range map[float64]float64{10: 1.5388, 1000: 3.2414} {
		if got := (largest(1e9, 0.5, 1e9, c) - 5e8) / math.Sqrt(1e9/4); math.Abs(got-want) > 1e-3 {
			t.Errorf("the largest of %v is %v deviations above the mean, want %v", c, got, want)
		}
	}
	const n, m, k, g = 100_000, 800_000, 6, 10_000
	small, large := GroupFill(n, m, k, g, 100), GroupFill(100*n, 100*m, k, 100*g, 100)
	if math.Abs(small-large) > 2e-5 {
		t.Errorf("%v at n=%d, %v at n=%d", small, n, large, 100*n)
	}
}

// TestTheoryRate requires the shape of Figs. 6 and 7: p_a falls with g and with t, and is constant at t = 1.
func TestTheoryRate(t *testing.T) {
	const n, m, k = 1000, 8000, 6
	flat := math.Pow(-math.Expm1(n*k*math.Log1p(-1.0/m)), k)
	tries := []int{1, 2, 3, 10, 100, 10_000, 1_000_000}
	last := make([]float64, len(tries))
	for g := 1; g <= n; g += 1 + g/16 {
		row := 1.0
		for i, c := range tries {
			p := GroupFPR(n, m, k, g, c)
			switch {
			case !(p > 0 && p < row):
				t.Errorf("g=%d: %v at t=%d after %v", g, p, c, row)
			case c == 1 && (math.Abs(p-flat) > 6e-6 || n%g == 0 && math.Abs(p-flat) > 1e-12):
				t.Errorf("g=%d, t=1: %v, want %v", g, p, flat)
			case c > 1 && g > 1 && p >= last[i]:
				t.Errorf("t=%d: %v at g=%d after %v", c, p, g, last[i])
			}
			row, last[i] = p, p
		}
	}
}

// TestTheoryOnes compares the bound of Theorem 1 with the exact law, and the exact law with brute force, at a small
// scale. Then it compares the bound with the values of Figs. 1 and 2.
func TestTheoryOnes(t *testing.T) {
	const n, m, k, runs = 50, 400, 6, 20_000
	law := NewBits(m, 0, n*k)
	mean := -m * math.Expm1(-float64(n*k)/m)
	far := make([]float64, n*k)
	seen := make([]float64, n*k+1) // by number of ones, the share of runs
	r := rand.NewPCG(6, 7)
	for range runs {
		fill := make([]sample, 1)
		greedy(n, m, k, 1, 1, r, fill)
		seen[int(math.Round(fill[0].sum*m))] += 1.0 / runs
	}
	for lambda := range far {
		simulated := 0.0
		for ones, p := range law {
			if math.Abs(float64(ones)-mean) > float64(lambda) {
				far[lambda] += p
				simulated += seen[ones]
			}
		}
		if math.Abs(simulated-far[lambda]) > 4.5*math.Sqrt(far[lambda]/runs)+1e-9 {
			t.Errorf("further than %d: %.5f, in simulation %.5f", lambda, far[lambda], simulated)
		}
		if bound := OnesTail(n, k, float64(lambda)); bound < far[lambda]-1e-12 || bound < simulated-1e-12 ||
			lambda > 40 && bound > 0.2 {
			t.Errorf("further than %d: bound %v, probability %v", lambda, bound, far[lambda])
		}
	}
	for _, sets := range []int{1, 100, 1_000_000} {
		for _, miss := range []float64{0.5, 0.01} {
			below := 0.0
			for ones := 0; float64(ones) < OnesFloor(n, m, k, sets, miss); ones++ {
				below += law[ones]
			}
			if p := -math.Expm1(float64(sets) * math.Log1p(-below)); p > miss || OnesFloor(n, m, k, sets, miss) < 100 {
				t.Errorf("best of %d goes below %v with probability %v", sets, OnesFloor(n, m, k, sets, miss), p)
			}
		}
	}

	law = NewBits(8000, 0, 6000)
	exact := Fewest(law, 1e7)
	for _, c := range []struct {
		what            string
		got, want, near float64
	}{
		{"published mean of ones", 8000 * GroupFill(1000, 8000, 6, 1, 1), 4221.06, 0.2},
		{"exact mean", 8000 * GroupFill(1000, 8000, 6, 1, 1), Fewest(law, 1), 1e-6},
		{"published best of 10^7, by the exact law", exact, 4089, 8},
		{"best of 10^7, by the theory", 8000 * GroupFill(1000, 8000, 6, 1, 10_000_000), exact, 2},
		{"bound at 4089", OnesTail(1000, 6, 4221.07-4089), 0.4675, 1e-4},
		{"floor of 10^7", OnesFloor(1000, 8000, 6, 10_000_000, 0.5), 3762.75, 0.01},
	} {
		if math.Abs(c.got-c.want) > c.near {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestTheoryDomain requires NaN outside the domain, and quick results for the largest parameters.
func TestTheoryDomain(t *testing.T) {
	const most = math.MaxInt
	values := []int{-most - 1, -1, 0, 1, 2, 17, most}
	for _, n := range values {
		for _, m := range values {
			for _, x := range values {
				bad := n < 0 || m < 1 || x < 1
				shares := map[string]float64{
					"balls": BinsFill(
						n,
						m,
						x,
					), "t": GroupFill(n, m, 2, 3, x), "k": GroupFill(n, m, x, 3, 2), "g": GroupFill(n, m, 2, x, 2),
					"paper t": GroupFillPublished(
						n,
						m,
						2,
						3,
						x,
					), "paper g": GroupFillPublished(n, m, 2, x, 2), "rate": GroupFPR(n, m, x, 3, 2),
					"floor": OnesFloor(n, m, x, 2, 0.5) / float64(m), "sets": OnesFloor(n, m, 2, x, 0.5) / float64(m),
				}
				if x <= m {
					shares["linear"] = BinsFillLinear(n, m, x)
				}
				for what, f := range shares {
					if bad != math.IsNaN(f) || f < 0 || f > 1 || n == 0 && f > 0 {
						t.Fatalf("%s: %v at n=%d m=%d, %d", what, f, n, m, x)
					}
				}
			}
		}
	}
	for what, f := range map[string]float64{
		"linear": BinsFillLinear(5, 4, 5), "miss 0": OnesFloor(5, 4, 1, 1, 0),
		"miss":   OnesFloor(5, 4, 1, 1, math.NaN()),
		"lambda": OnesTail(5, 1, math.NaN()), "k": OnesTail(5, 0, 1), "n": OnesTail(-1, 1, 1),
	} {
		if !math.IsNaN(f) {
			t.Errorf("%s: %v, want NaN", what, f)
		}
	}
	if OnesTail(5, 1, -1) != 1 || OnesTail(0, 1, 1) != 0 {
		t.Error("a distance below 0, or no keys")
	}
}

// TestCompressed compares with rows of Mitzenmacher's Tables I and II: 8 and 16 bits per key after compression.
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
		// Conversely, a filter of this rate and size has no more bits.
		bits, k, ok := CompressTo(rate, size*(1+1e-9))
		if again, _ := Compressed(bits, k); !ok || bits > c.bits*(1+1e-9) || math.Abs(again/rate-1) > 1e-9 {
			t.Errorf("rate %g in %g bits: %g bits with k=%d, %v; want at most %g", rate, size, bits, k, ok, c.bits)
		}
	}
}

// TestCompressTo tests sizes from no compression to less than is possible.
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
			t.Errorf("to %g bits per key: %g with k=%d compress to %g, rate %g", c.size, bits, k, size, got)
		}
		last = bits
	}
	if bits, k, ok := CompressTo(rate, 8); ok || !math.IsInf(bits, 1) {
		t.Errorf("8 bits per key at 1%%: %g, k=%d", bits, k)
	}
	if Entropy(0) != 0 || Entropy(1) != 0 || Entropy(0.5) != 1 {
		t.Error("entropy of 0, 1 and 1/2")
	}
}
