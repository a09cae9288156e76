package dcso

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// TestClasses compares the rates of filters whose number of bits a power of two divides with the observed rate. The
// bound is five standard deviations of the number of false positives, and 2% of the posterior or 20% of the prior rate.
func TestClasses(t *testing.T) {
	const trials = 200_000
	for _, c := range []struct {
		m    uint64
		k    int
		far  bool // from the rate of independent probes
		keys uint64
	}{
		{m: 1 << 20, k: 7, keys: 100_000, far: true}, {m: 3 << 18, k: 10, keys: 50_000, far: true},
		{m: 100 << 14, k: 7, keys: 150_000, far: true}, {m: (1<<14 + 1) << 6, k: 7, keys: 100_000}, {m: 64 * 1001, k: 7, keys: 6000}, {m: 1 << 21, k: 4, keys: 1_000_000, far: true},
		{m: 1<<20 - 1, k: 7, keys: 100_000}, {m: 1 << 12, k: 7, keys: 400, far: true},
		{m: 1 << 23, k: 7, keys: 800_000, far: true},
		{m: 6 * 10007, k: 9, keys: 6000}, {m: 64, k: 3, keys: 10, far: true},
	} {
		f := must(New(Config{Config: probe.Config{M: c.m, K: c.k, MaxK: MaxK, Width: 1}}))(t)
		r := rand.New(rand.NewPCG(3, c.m))
		for range c.keys {
			if err := f.Add(filter.Hash{Lo: r.Uint64()}); err != nil {
				t.Fatal(err)
			}
		}
		hits := 0.0
		for range trials {
			if f.Has(filter.Hash{Lo: r.Uint64()}) {
				hits++
			}
		}

		i := f.Info()
		for what, rate := range map[string]float64{"posterior": i.FPRPosterior, "prior": i.FPRPrior} {
			part := map[string]float64{"posterior": 0.03, "prior": 0.2}[what]
			if c.keys < 100 && what == "prior" { // one filter of so few keys is far from the mean
				part = 2
			}
			if want := rate * trials; math.Abs(hits-want) > 5*math.Sqrt(want+1)+part*want {
				t.Errorf("m=%d, %d keys: %.0f of %d absent keys present, %s rate %.4g", c.m, c.keys, hits, trials, what, rate)
			}
		}
		if plain := probe.FPR(c.keys, c.m, c.k); (i.FPRPrior > 1.2*plain) != c.far {
			t.Errorf("m=%d, %d keys: rate %.4g, of independent probes %.4g", c.m, c.keys, i.FPRPrior, plain)
		}
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
