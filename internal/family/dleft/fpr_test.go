package dleft

import (
	"math"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

// TestObservedRate measures few and many keys in tables from which keys were removed. With few keys an error would show
// if a bit of the hash served two purposes.
func TestObservedRate(t *testing.T) {
	for _, c := range []struct {
		n         int
		remainder uint
	}{{24, 8}, {240, 12}, {1000, 4}, {1000, 12}, {1000, 16}, {30_000, 9}} {
		const seeds = 12
		trials := uint64(400_000)
		if testing.Short() {
			trials = 40_000
		}
		var seen uint64
		var want, prior float64
		for seed := range uint64(seeds) {
			f := must(t, Config{Keys: uint64(c.n), Remainder: c.remainder, Counting: seed%2 == 1})
			hs := filtertest.Hashes(c.n+c.n/8, seed)
			for _, h := range hs {
				if err := f.Add(h); err != nil {
					t.Fatal(err)
				}
			}
			for _, h := range hs[c.n:] {
				if err := f.Remove(h); err != nil {
					t.Fatal(err)
				}
			}
			for _, h := range filtertest.Hashes(int(trials), 1000+seed) {
				if f.Has(h) {
					seen++
				}
			}
			want += f.Info().FPRPosterior
			prior += f.Info().FPRPrior
		}
		rate := want / seeds
		if tail := stat.UpperTail(seen, seeds*trials, rate); tail < 1e-5 || tail > 1-1e-5 {
			t.Errorf("n=%d remainder=%d: %d false positives in %d, posterior rate %g: tail %g", c.n, c.remainder, seen, seeds*trials, rate, tail)
		}
		// The number of different values has a standard deviation below that of a binomial number.
		m := float64((c.n-1)/load+1) * float64(uint64(1)<<c.remainder-1)
		if off := math.Abs(want-prior) * m; off > 5*math.Sqrt(seeds*float64(c.n)*min(1, prior/seeds))+1e-6 {
			t.Errorf("n=%d remainder=%d: posterior rate %g, prior %g", c.n, c.remainder, rate, prior/seeds)
		}
	}
}

// TestDistinct compares the number of different values with a set, in a table whose buckets are all read and in one of
// which a sample is read.
func TestDistinct(t *testing.T) {
	for n, within := range map[int]float64{1000: 1e-12, 2_000_000: 0.002} {
		if n > 1000 && testing.Short() {
			continue
		}
		f := must(t, Config{Keys: uint64(n), Remainder: 6})
		values := map[place]bool{}
		for _, h := range filtertest.Hashes(n, 7) {
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
			values[f.place(h)] = true
		}
		if got, want := f.Info().FPRPosterior, float64(len(values))/f.values(); math.Abs(got/want-1) > within {
			t.Errorf("n=%d: posterior rate %g, want %g", n, got, want)
		}
	}
}

func TestPublishedRate(t *testing.T) {
	// Hua et al. (2008, section II.B): 12 bits a cell, 16 a key, for 2^-7; Bonomi et al.: 24·2^-r.
	bits, fpr, err := Config{Keys: 24_000, Size: family.Sizing{FPR: 1. / 128}}.Forecast(24_000)
	if err != nil || bits != 16*24_000 || math.Abs(fpr*4096/24-1) > 0.004 {
		t.Errorf("%d bits, rate %g, %v", bits, fpr, err)
	}
	for _, c := range []struct {
		p    float64
		bits float64
		r    uint
	}{{0.01, 16, 12}, {0.001, 20, 15}, {0.0001, 24, 18}} {
		f := must(t, Config{Keys: 240_000, Size: family.Sizing{FPR: c.p}})
		if got := float64(f.Info().Bits) / 240_000; got != c.bits || f.remainder != c.r || FPR(240_000, f.buckets, f.remainder) > c.p || FPR(240_000, f.buckets, f.remainder-1) <= c.p {
			t.Errorf("rate %g: %g bits a key, remainder %d", c.p, got, f.remainder)
		}
	}
}

// TestFluidLimit integrates the differential equations of d-left hashing (Vöcking; Mitzenmacher): the shares of buckets
// with at least x keys while a table of very many buckets fills to its capacity. A key goes to a bucket of x keys in
// subtable i if its buckets in the subtables before i have more, and those after i at least as many.
func TestFluidLimit(t *testing.T) {
	const steps, most = 200_000, cells + 2
	var share [most + 1][subtables]float64 // share[x][i]: buckets of subtable i with x keys or more
	share[0] = [subtables]float64{1, 1, 1, 1}
	for range steps {
		now := share
		for x := 1; x <= most; x++ {
			for i := range subtables {
				grows := now[x-1][i] - now[x][i]
				for j := range subtables {
					switch {
					case j < i:
						grows *= now[x][j]
					case j > i:
						grows *= now[x-1][j]
					}
				}
				share[x][i] += grows * load / steps
			}
		}
	}
	if eight, nine := share[8][0], share[9][0]; math.Abs(eight/5.1e-10-1) > 0.02 || nine > 1e-100 || share[9][3] > nine {
		t.Errorf("%g of the buckets come to eight keys, %g to nine", eight, nine)
	}
}
