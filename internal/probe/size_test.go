package probe

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
)

// TestFewKeys checks that the mean rate of filters of few keys, over many sets of random places, is at most the
// requested rate, and that the filters are not much larger than necessary. Filters sized by the formula for many keys
// would have mean rates of up to 80 times the requested rate.
func TestFewKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []uint64{1, 2, 5, 10, 30} {
		for _, p := range []float64{0.9, 0.4, 0.1, 0.01, 1e-4, 1e-6} {
			m, k, err := Config{Keys: n, Size: family.Sizing{FPR: p}, Width: 1, Scatter: true}.Resolve()
			if err != nil {
				t.Fatal(err)
			}
			const filters = 4000
			var sum, squares float64
			set := make([]bool, m)
			for range filters {
				clear(set)
				ones := 0.
				for range uint64(k) * n {
					if i := r.Uint64N(m); !set[i] {
						set[i] = true
						ones++
					}
				}
				rate := math.Pow(ones/float64(m), float64(k))
				sum += rate
				squares += rate * rate
			}
			mean := sum / filters
			sigma := math.Sqrt((squares/filters - mean*mean) / filters)
			if mean > p*noScatter*1.01+4*sigma || mean < p*0.3 {
				t.Errorf("%d keys, rate %g: m=%d, k=%d, mean rate %.4g ± %.2g", n, p, m, k, mean, sigma)
			}
		}
	}
}

// TestFewestOfAll checks that fewKeys returns the minimum over k of the places that are needed.
func TestFewestOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		n, p := uint64(math.Exp(12*r.Float64())), math.Exp(-25*r.Float64())
		want, k := math.Inf(1), 0
		for try := 1; try <= MaxK; try++ {
			if m, _ := fewKeys(n, p, try); m < want {
				want, k = m, try
			}
		}
		if got, best := fewKeys(n, p, 0); got != want || best != k {
			t.Fatalf("%d keys, rate %g: %v places with %d probes, want %v with %d", n, p, got, best, want, k)
		}
	}
}
