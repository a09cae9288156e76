package families

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

// trials is the number of absent keys for which observedRate queries each filter.
const trials = 300_000

// absentKeys caches the results of absent: all filters are asked for the same keys.
var absentKeys sync.Map

// absent returns filtertest.Hashes(trials, seed), the same slice each time.
func absent(seed uint64) []filter.Hash {
	hs, _ := absentKeys.LoadOrStore(seed, sync.OnceValue(func() []filter.Hash { return filtertest.Hashes(trials, seed) }))
	return hs.(func() []filter.Hash)()
}

// observedRate requires that the observed rate, over several seeds, is within 4.5 standard deviations of the posterior
// rate, and that the posterior rate is close to the prior rate.
func observedRate(t *testing.T, f Family, s filter.Spec) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	searched := f.Can.Has(family.CanSearch) // a search lowers the rate, so the prior rate is an upper bound
	for _, n := range []int{1000, 30_000} {
		var seen, want, prior float64
		for seed := uint64(10); seed < 14; seed++ {
			built := build(t, f, s, filtertest.Hashes(n, seed))
			info := built.Info()
			count := filtertest.Count(built, absent(seed+100))
			p := info.FPRPosterior
			if tail := stat.UpperTail(count, trials, p); tail < 1e-6 || tail > 1-1e-6 && 0 < count && count < trials {
				t.Errorf("n=%d seed=%d %s: observed %d of %d, posterior rate %g (tail %g)",
					n, seed, info.Spec, count, trials, p, tail)
			}
			seen += float64(count)
			want += p * trials
			prior += info.FPRPrior * trials
		}
		// 4.5 standard deviations of the trials. The posterior rate varies around the prior one with the load of the
		// blocks: there are about 4n/32 blocks, and the standard deviation of the rate of a block is about this rate.
		if d := 4.5*math.Sqrt(want) + 1; seen < want-d || seen > want+d {
			t.Errorf("n=%d %s: observed %g false positives, posterior %g ± %g", n, s, seen, want, d)
		}
		if d := 4.5*prior*math.Sqrt(8/float64(n)) + 1; want < prior-d && !searched || want > prior+d {
			t.Errorf("n=%d %s: posterior %g false positives, prior %g", n, s, want, prior)
		}
	}
}

// TestDefaultFPR checks that without a size a family has its default rate, or none.
func TestDefaultFPR(t *testing.T) {
	for _, f := range All() {
		if strings.Contains(f.Default, "%") != (f.DefaultFPR != 0) {
			t.Errorf("family %s: default %q, rate %v", f.Name, f.Default, f.DefaultFPR)
		}
		if f.DefaultFPR == 0 {
			continue
		}
		spec := family.NewSpec(f.Name)
		bits, fpr, err := f.Forecast(spec, 1000)
		wantBits, want, wantErr := f.Forecast(spec.With("fpr", f.DefaultFPR), 1000)
		if err != nil || wantErr != nil || bits != wantBits || fpr != want {
			t.Errorf("%s: %d bits, rate %v, %v; want %d, %v, %v", spec, bits, fpr, err, wantBits, want, wantErr)
		}
	}
}

// TestForecastAtKeys checks that all families forecast the rate for the given number of keys, not for their capacity.
func TestForecastAtKeys(t *testing.T) {
	for _, name := range Taking("capacity") {
		f, s := parse(t, name+"(capacity=1000000,fpr=0.01)")
		_, few, err := f.Forecast(s, 1000)
		if err != nil {
			t.Fatal(err)
		}
		_, all, err := f.Forecast(s, 1_000_000)
		if err != nil || few >= all/100 || all > 0.0101 || all < 0.004 {
			t.Errorf("%s: rate %g at 1000 keys, %g at capacity, %v", s, few, all, err)
		}
	}
}

// TestCheck checks that Check refuses a Spec only if no number of keys makes it valid.
func TestCheck(t *testing.T) {
	for _, f := range All() {
		for text, want := range map[string]bool{
			"bytes=64": true, "bytes=1000000": true, "bits_per_key=9": true, "fpr=0.01": true, "fpr=2": false, "nonsense=1": false, "bytes=9,fpr=0.1": false,
		} {
			_, s := parse(t, f.Name+"("+text+")")
			if err := f.Check(s); (err == nil) != want {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
}

// TestSizeAsAsked checks that no form of a family makes a filter that is much smaller than requested. A size that it
// cannot use must be an error.
func TestSizeAsAsked(t *testing.T) {
	for _, f := range All() {
		for _, s := range plainSpecs(f) {
			for _, n := range []uint64{1, 10, 1000, 50_000} {
				for _, perKey := range []float64{33, 48, 80, 200, 4096} {
					asked := perKey * float64(n)
					for _, s := range []filter.Spec{s.With("bits_per_key", perKey), s.With("bytes", uint64(asked/8))} {
						bits, _, err := f.Forecast(s, n)
						switch {
						case err != nil && !errors.Is(err, filter.ErrConfig):
							t.Errorf("%s, %d keys: %v", s, n, err)
						case err == nil && float64(bits) < asked*0.9-1024: // whole blocks of two cache lines
							t.Errorf("%s, %d keys: %d bits, %.4g a key", s, n, bits, float64(bits)/float64(n))
						}
					}
				}
			}
		}
	}
}
