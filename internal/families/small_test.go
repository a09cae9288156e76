package families

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// filled returns a filter of the Spec with n random keys, and its query for random keys.
func filled(t *testing.T, f Family, s filter.Spec, n uint64, r *rand.Rand) (family.Filter, func() bool) {
	t.Helper()
	made := start(t, f, s, n)
	if raw, ok := made.(family.RawKeyFilter); ok {
		var key [16]byte
		next := func() []byte {
			binary.LittleEndian.PutUint64(key[:], r.Uint64())
			binary.LittleEndian.PutUint64(key[8:], r.Uint64())
			return key[:]
		}
		for range n {
			if err := raw.AddKey(next()); err != nil {
				t.Fatal(err)
			}
		}
		return made, func() bool { return raw.HasKey(next()) }
	}
	hash := func() filter.Hash { return filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()} }
	for range n {
		if err := made.(family.Adder).Add(hash()); err != nil {
			t.Fatal(err)
		}
	}
	return made, func() bool { return made.Has(hash()) }
}

// TestFewKeys checks the predicted and the posterior rates of the families of other systems against observed ones, for
// small filters in which double hashing has many times the rate of independent probes. The bounds are five standard
// deviations of the number of false positives plus the error that package probe states: 20% of a rate that double
// hashing dominates, and 3% of other rates.
func TestFewKeys(t *testing.T) {
	const seeds, trials = 4, 100_000
	for _, text := range []string{
		"guava", "guava(strategy=32)", "bitsandblooms", "redisbloom", "spark", "spark(version=2)", "dcso",
	} {
		f, base := parse(t, text)
		for _, n := range []uint64{1, 3, 10, 100, 1000} {
			for _, perKey := range []float64{9.6, 28.8} {
				s := base.With("bits_per_key", perKey)
				bits, prior, err := f.Forecast(s, n)
				if err != nil {
					t.Fatal(err)
				}
				var sum, squares float64
				for seed := range uint64(seeds) {
					made, ask := filled(t, f, s, n, rand.New(rand.NewPCG(seed, n)))
					info := made.Info()
					rate := info.FPRPosterior
					sum += rate / seeds
					squares += rate * rate / seeds
					hits := 0.0
					for range trials {
						if ask() {
							hits++
						}
					}
					tolerance := 0.2
					if rate > 1e-3 {
						tolerance = 0.03
					}
					if want := rate * trials; math.Abs(hits-want) > 5*math.Sqrt(want+1)+tolerance*want {
						t.Errorf("%s for %d keys (%d bits, seed %d): %.0f of %d absent keys present, posterior rate %.3g",
							s, n, bits, seed, hits, trials, rate)
					}
				}
				scatter := math.Sqrt(max(0, squares-sum*sum) / (seeds - 1))
				few := 1.0 // the rates of filters of a few keys vary too much for such a small sample
				if n < 10 {
					few = 10
				}
				if math.Abs(prior-sum) > few*(6*scatter+0.25*prior) {
					t.Errorf("%s for %d keys (%d bits): forecast %.3g, posterior %.3g +- %.2g", s, n, bits, prior, sum, scatter)
				}
			}
		}
	}
}

// TestFewKeysPromise checks that a filter keeps its planned rate, or that the error names the number of keys that it
// needs.
func TestFewKeysPromise(t *testing.T) {
	for _, name := range []string{"guava", "bitsandblooms", "redisbloom", "spark", "dcso"} {
		f, _ := parse(t, name)
		for _, n := range []uint64{1, 30, 1000} {
			for _, p := range []float64{0.1, 1e-4} {
				s := family.NewSpec(name, "fpr", p)
				bits, prior, err := f.Forecast(s, n)
				if err != nil || prior > 1.02*p {
					t.Errorf("%s for %d keys: forecast %g with %d bits, %v", s, n, prior, bits, err)
					continue
				}
				var sum float64
				const seeds = 8
				for seed := range uint64(seeds) {
					made, _ := filled(t, f, s, n, rand.New(rand.NewPCG(seed, n)))
					sum += made.Info().FPRPosterior / seeds
				}
				if sum > 3*p || n >= 30 && sum > 1.3*p {
					t.Errorf("%s for %d keys: posterior %g with %d bits", s, n, sum, bits)
				}
			}
			_, _, err := f.Forecast(family.NewSpec(name, "fpr", 1e-12), n)
			var config *filter.ConfigError
			if name != "bitsandblooms" && name != "dcso" && (!errors.As(err, &config) || config.Field != "fpr") {
				t.Errorf("%s for %d keys at 1e-12: error %v", name, n, err)
			}
		}
	}
}
